// Random sequences of all operations over three tenants, against a model that is a few maps. Any difference fails.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { startService, type Tenant, validAddress } from '../../helpers/service.ts';

const service = await startService();

const someId = randomUUID();

interface Kind {
  path: string;
  collection: string;
  owner?: { kind: string; field: string; isRequired: boolean };
  uniqueField?: string;
  defaults: Body;
  /** A valid body without its owner; `variant` makes it differ. */
  body: (variant: number) => Body;
}

type Body = Record<string, unknown>;

const kinds: Record<string, Kind> = {
  customer: {
    path: '/customer',
    collection: '/customers',
    uniqueField: 'customerNumber',
    defaults: { status: 'ACTIVE' },
    body: (variant) => ({
      companyName: `Firma ${variant}`,
      address: { ...validAddress, ...(variant % 2 && { location: { lat: variant } }) },
      ...(variant % 3 === 0 && { customerNumber: `K${variant % 4}` }),
      ...(variant % 4 === 0 && { phone: `+49 ${variant}` }),
    }),
  },
  site: {
    path: '/customer/site',
    collection: '/sites',
    owner: { kind: 'customer', field: 'customerId', isRequired: true },
    defaults: { openingHours: [], timeZone: 'Europe/Berlin' },
    body: (variant) => ({
      name: `Standort ${variant}`,
      address: validAddress,
      needsAppointment: variant % 2 === 0,
      hasKey: false,
      ...(variant % 3 === 0 && {
        callOutFee: variant + 0.5,
        openingHours: [{ any: ['shape', null, variant] }],
      }),
      ...(variant % 5 === 0 && { validFrom: '2026-01-31', contractId: someId }),
    }),
  },
  'contact-person': {
    path: '/customer/contact-person',
    collection: '/contact-persons',
    owner: { kind: 'customer', field: 'customerId', isRequired: true },
    defaults: {},
    body: (variant) => ({ lastName: `Name ${variant}`, ...(variant % 2 && { language: 'de' }) }),
  },
  container: {
    path: '/customer/site/container',
    collection: '/containers',
    owner: { kind: 'site', field: 'siteId', isRequired: false },
    uniqueField: 'labelCode',
    defaults: {},
    body: (variant) => ({
      name: `Gefäß ${variant}`,
      cultureSystem: 'SOIL',
      ...(variant % 3 === 0 && { labelCode: `C${variant % 4}`, volumeInLitres: 0.1 * variant + 1 }),
    }),
  },
  plant: {
    path: '/customer/site/plant',
    collection: '/plants',
    owner: { kind: 'site', field: 'siteId', isRequired: true },
    defaults: { quantity: 1 },
    body: (variant) => ({ botanicalName: `Ficus ${variant}`, ...(variant % 2 && { quantity: variant + 1 }) }),
  },
  product: {
    path: '/product',
    collection: '/products',
    defaults: { unitCode: 'H87', currency: 'EUR', active: true },
    body: (variant) => ({
      name: `Produkt ${variant}`,
      kind: 'PLANT',
      ...(variant % 2 && { netPrice: 9.99 }),
    }),
  },
};

interface Stored {
  id: string;
  version: number;
  value: Body;
}

type Model = Record<string, Map<string, Stored>>;

const operation = fc.record({
  action: fc.constantFrom('create', 'create', 'create', 'patch', 'patch', 'put', 'delete', 'read'),
  tenant: fc.nat(2),
  kind: fc.constantFrom(...Object.keys(kinds)),
  variant: fc.nat(20),
  externalId: fc.option(fc.constantFrom('a', 'b', 'ü/c d'), { nil: undefined }),
  /** Which of the stored objects is meant; beyond their number, one that does not exist. */
  target: fc.nat(3),
  owner: fc.nat(4),
  namesOwnerExternally: fc.boolean(),
  isStale: fc.constantFrom(false, false, false, true),
});

type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

class Run {
  readonly models: Model[] = [0, 1, 2].map(() =>
    Object.fromEntries(Object.keys(kinds).map((kind) => [kind, new Map<string, Stored>()])),
  );
  readonly tenants: Tenant[];

  constructor(tenants: Tenant[]) {
    this.tenants = tenants;
  }

  async apply(op: Operation): Promise<void> {
    const kind = kinds[op.kind]!;
    const model = this.models[op.tenant]!;
    const headers = { apikey: this.tenants[op.tenant]!.key };
    const objects = [...model[op.kind]!.values()];
    const target = objects[op.target];
    const id = target?.id ?? randomUUID();
    const condition = { ...headers, ...(op.isStale && { 'if-match': '"999"' }) };

    if (op.action === 'read') {
      const response = await service.get(`${kind.collection}/${id}`, { headers });
      assert.equal(response.statusCode, target ? 200 : 404);
      if (target) assertSame(response.json(), target);
    } else if (op.action === 'delete') {
      const response = await service.delete(`${kind.collection}/${id}`, { headers: condition });
      const expected = !target ? 404 : op.isStale ? 412 : this.hasDependants(model, op.kind, id) ? 409 : 204;
      assert.equal(response.statusCode, expected, response.body);
      if (expected === 204) model[op.kind]!.delete(id);
    } else if (op.action === 'patch') {
      const change = {
        ...kind.body(op.variant),
        ...(op.variant % 2 === 0 && { externalId: op.externalId ?? null }),
      };
      const response = await service.patch(`${kind.collection}/${id}`, change, { headers: condition });
      if (!target) assert.equal(response.statusCode, 404);
      else if (op.isStale) assert.equal(response.statusCode, 412);
      else this.expectChange(model, op.kind, target, merge(target.value, change, kind), response);
      if (response.statusCode === 200) assertSame(response.json(), model[op.kind]!.get(id)!);
    } else {
      await this.store(op, kind, model, headers);
    }
  }

  /** A creation, or an upsert by external id. */
  async store(op: Operation, kind: Kind, model: Model, headers: { apikey: string }): Promise<void> {
    const owner = this.chooseOwner(op, kind, model);
    const isUpsert = op.action === 'put';
    const externalId = isUpsert ? (op.externalId ?? 'a') : op.externalId;
    const body = { ...kind.body(op.variant), ...owner.sent, ...(externalId && { externalId }) };
    const response = isUpsert
      ? await service.put(`${kind.collection}/by-external-id/${encodeURIComponent(externalId!)}`, body, {
          headers,
        })
      : await service.post(kind.path, body, { headers });
    const value = {
      ...kind.defaults,
      ...kind.body(op.variant),
      ...owner.stored,
      ...(externalId && { externalId }),
    };
    if (owner.isMissing) {
      assert.equal(response.statusCode, 400, response.body);
      return;
    }
    const known =
      externalId && [...model[op.kind]!.values()].find((one) => one.value.externalId === externalId);
    if (isUpsert && known) {
      this.expectChange(model, op.kind, known, value, response);
      return;
    }
    const holder = this.findHolder(model, op.kind, value, undefined);
    assert.equal(response.statusCode, holder ? 409 : 201, response.body);
    if (holder) assert.equal(response.json().id, holder.id);
    else model[op.kind]!.set(response.json().id, { id: response.json().id, version: 1, value });
  }

  expectChange(
    model: Model,
    kind: string,
    target: Stored,
    value: Body,
    response: { statusCode: number; body: string },
  ): void {
    const holder = this.findHolder(model, kind, value, target.id);
    assert.equal(response.statusCode, holder ? 409 : 200, response.body);
    if (holder) return;
    if (!isSame(target.value, value)) target.version++;
    target.value = value;
  }

  chooseOwner({ owner: index, namesOwnerExternally }: Operation, { owner }: Kind, model: Model) {
    const nobody = { sent: {}, stored: {}, isMissing: false };
    if (!owner || (!owner.isRequired && index === 0)) return nobody;
    const found = [...model[owner.kind]!.values()][index];
    if (namesOwnerExternally) {
      const externalId = (found?.value.externalId as string | undefined) ?? 'nobody';
      const isMissing = found?.value.externalId === undefined;
      const sent = { [owner.field.replace(/Id$/, 'ExternalId')]: externalId };
      return { sent, stored: { [owner.field]: found?.id }, isMissing };
    }
    const id = found?.id ?? randomUUID();
    return { sent: { [owner.field]: id }, stored: { [owner.field]: id }, isMissing: !found };
  }

  findHolder(model: Model, kind: string, value: Body, ownId: string | undefined): Stored | undefined {
    const fields = ['externalId', kinds[kind]!.uniqueField].filter((field) => field !== undefined);
    for (const field of fields) {
      const holder = [...model[kind]!.values()].find(
        (one) => one.id !== ownId && value[field] !== undefined && one.value[field] === value[field],
      );
      if (holder) return holder;
    }
    return undefined;
  }

  hasDependants(model: Model, kind: string, id: string): boolean {
    return Object.entries(kinds).some(
      ([name, { owner }]) =>
        owner?.kind === kind && [...model[name]!.values()].some((one) => one.value[owner.field] === id),
    );
  }

  /** What lists show, and what the change feed tells, is what the model holds. */
  async compareAll(): Promise<void> {
    for (const [index, model] of this.models.entries()) {
      const headers = { apikey: this.tenants[index]!.key };
      for (const [name, kind] of Object.entries(kinds)) {
        const listed: Body[] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
          const address: string = `${kind.collection}?limit=3&sort=-updatedAt${cursor && `&cursor=${cursor}`}`;
          const page = (await service.get(address, { headers })).json();
          listed.push(...page.data);
          cursor = page.nextCursor;
        }
        assert.equal(listed.length, model[name]!.size, name);
        for (const item of listed) assertSame(item, model[name]!.get(item.id as string)!);
      }
      const { data } = (await service.get('/changes?limit=1000', { headers })).json();
      const replayed = new Map<string, number>();
      for (const entry of data) {
        if (entry.action === 'DELETED') replayed.delete(entry.id);
        else replayed.set(entry.id, entry.version);
      }
      const expected = Object.values(model).flatMap((objects) => [...objects.values()]);
      assert.deepEqual(replayed, new Map(expected.map(({ id, version }) => [id, version])));
    }
  }
}

function merge(value: Body, patch: Body, { defaults }: Kind): Body {
  const merged: Body = { ...value };
  for (const [name, member] of Object.entries(patch)) {
    if (member === null) delete merged[name];
    else if (name === 'address') {
      const [before, after] = [value.address as Body, member as Body];
      merged.address = { ...before, ...after };
    } else merged[name] = member;
  }
  return { ...defaults, ...merged };
}

function isSame(one: Body, other: Body): boolean {
  try {
    assert.deepEqual(withoutAbsent(one), withoutAbsent(other));
    return true;
  } catch {
    return false;
  }
}

function withoutAbsent(value: Body): Body {
  return JSON.parse(JSON.stringify(value));
}

function assertSame(answer: Body, { id, version, value }: Stored): void {
  const { createdAt, updatedAt, ...shown } = answer;
  assert.ok(createdAt && updatedAt);
  assert.deepEqual(shown, { id, version, ...withoutAbsent(value) });
}

test('after any calls in any order, the service holds the same as the model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength: 60 }), async (operations) => {
      const tenants = [
        await service.createTenant(),
        await service.createTenant(),
        await service.createTenant(),
      ];
      const run = new Run(tenants);
      for (const op of operations) await run.apply(op);
      await run.compareAll();
    }),
    { numRuns: 25, endOnFailure: false },
  );
});
