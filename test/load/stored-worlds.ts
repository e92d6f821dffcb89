// A business with `size` objects of each kind, filled through the real interface: as much of everything as is accepted.
import assert from 'node:assert/strict';
import type { Definition } from '../../server/engine/definition/definition.ts';
import type { Field, Fields } from '../../server/engine/definition/fields.ts';
import { resources } from '../../server/resources/index.ts';
import { createPerson } from '../helpers/office.ts';
import type { TestService } from '../helpers/service.ts';

export interface World {
  origin: string;
  size: number;
  key: string;
  cookie: string;
  tenantId: string;
  /** Of each resource the largest object; the others refer to these. */
  ids: Record<string, string>;
  /** An import with as many lines. */
  importId: string;
  /** The path of an employee's calendar, which needs no session. */
  calendar: string;
}

export const maxListItems = 100;
export const maxBodyBytes = 102_400;
/** A world of this size has the largest accepted lists and bodies. */
export const largestSize = 320;

export const shareOf = (world: Pick<World, 'size'>, most: number) =>
  Math.floor((most * world.size) / largestSize);

const fewItems = 3;
const days = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'];

const timeOf = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

/** Half of them are long over, so that each day of a visit looks at all of them. The others are minutes of a Sunday. */
const openingHours = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    index % 2 === 0
      ? {
          ...{ dayOfWeek: days[index % days.length], opens: '08:00', closes: '18:00' },
          ...{ validFrom: `${2001 + (index % 9)}-01-01`, validUntil: `${2001 + (index % 9)}-12-31` },
        }
      : {
          ...{ dayOfWeek: 'SUNDAY', opens: timeOf(index * 14), closes: timeOf(index * 14 + 7) },
          validFrom: '2026-01-01',
        },
  );

/** Many intervals of one site are as close as possible, and no two are alike. The few of other sites keep calendars readable. */
const attendingIntervals = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    count > fewItems
      ? {
          ...{ frequency: 'DAILY', interval: 1 + (index % 2), toleranceInDays: 31 },
          ...{ timeFrom: timeOf(index), timeUntil: '23:59', durationInMinutes: 8 + index },
        }
      : { frequency: 'DAILY', interval: 52, toleranceInDays: 31 },
  );

/** A value for every field, with as many list items and words as this. */
function fullBody(fields: Fields, ids: World['ids'], items: number): Record<string, unknown> {
  const entries = Object.entries(fields).filter(([, field]) => !field.twinOf);
  return Object.fromEntries(
    entries.map(([name, field]) => {
      if (field.fields) return [name, fullBody(field.fields, ids, items)];
      if (field.reference) return [name, ids[field.reference.resources[0]!]];
      if (name === 'openingHours') return [name, openingHours(items)];
      if (name === 'attendingIntervals') return [name, attendingIntervals(items)];
      return [name, sampleOf(field)];
    }),
  );
}

function sampleOf({ kind, schema }: Field): unknown {
  const {
    enum: choices,
    examples,
    maxLength,
    format,
  } = schema as Record<string, unknown> & {
    enum?: unknown[];
    examples?: unknown[];
    maxLength?: number;
  };
  if (choices) return choices[0];
  if (kind === 'text' && !format)
    return 'ab cd ef gh '
      .repeat(40)
      .slice(0, Math.min(maxLength ?? 300, 300))
      .trim();
  const usual = { text: 'X', flag: true, date: '2026-01-01', list: [{ any: 'shape' }] } as const;
  return examples?.[0] ?? schema.default ?? usual[kind as keyof typeof usual] ?? schema.minimum;
}

/** The largest accepted body in a world of the largest size, and a part of it in smaller ones. */
export function worstBody(definition: Definition, world: World, name: string): Record<string, unknown> {
  const body = named(definition, fullBody(definition.fields, world.ids, shareOf(world, maxListItems)), name);
  const bytes = Buffer.byteLength(JSON.stringify(body));
  // What is not known is reported back, name by name.
  const room = Math.max(0, shareOf(world, maxBodyBytes) - bytes - 100);
  return Object.assign(
    body,
    Object.fromEntries(
      Array.from({ length: Math.floor(room / 20) }, (_, index) => [`unknown${index}`, index]),
    ),
  );
}

function named({ uniqueFields, uniqueTogether }: Definition, body: Record<string, unknown>, name: string) {
  for (const fields of uniqueTogether) delete body[fields.at(-1)!];
  for (const field of uniqueFields) body[field] = name.slice(0, 30);
  return Object.assign(body, { externalId: name });
}

const kindsInOrder = [...resources].sort((one, other) => depthOf(one) - depthOf(other));

function depthOf(definition: Definition): number {
  const references = Object.values(definition.fields).flatMap(
    ({ reference }) => reference?.resources[0] ?? [],
  );
  const owners = references.flatMap((name) =>
    resources.filter((one) => one.name === name && one !== definition),
  );
  return owners.length === 0 ? 0 : 1 + Math.max(...owners.map(depthOf));
}

export async function buildWorld(service: TestService, origin: string, size: number): Promise<World> {
  const tenant = await service.createTenant();
  const person = await createPerson(service, { tenantId: tenant.tenantId });
  const world: World = {
    ...{ origin, size, key: tenant.key, tenantId: tenant.tenantId, cookie: person.cookie },
    ...{ ids: {}, importId: '', calendar: '' },
  };
  const headers = { apikey: tenant.key };
  for (const definition of kindsInOrder) {
    const response = await service.post(definition.path, worstBody(definition, world, 'largest'), {
      headers,
    });
    assert.equal(response.statusCode, 201, `${definition.name}: ${response.body}`);
    world.ids[definition.name] = response.json().id;
  }
  const { id: importId } = (
    await person.call('POST', '/imports', { fileName: 'all.csv', resource: 'site' })
  ).json();
  world.importId = importId;
  await sendLines(world, linesOf(world), { 'stamm-import': importId });
  await fillHistory(world);
  await fillBin(service, world);
  const feed = await person.call('PUT', `/calendar-feeds/employee/${world.ids.employee}`, { language: 'de' });
  assert.equal(feed.statusCode, 201, feed.body);
  world.calendar = new URL(feed.json().address).pathname;
  await service.owner.query('ANALYZE');
  return world;
}

/** As many objects of each kind as the size says, whose names are the same. */
export function linesOf(world: World): object[] {
  return kindsInOrder.flatMap((definition) =>
    Array.from({ length: world.size }, (_, index) => ({
      type: definition.name,
      data: named(
        definition,
        fullBody(definition.fields, world.ids, fewItems),
        `${definition.name}-${index}`,
      ),
    })),
  );
}

export const toNdjson = (lines: readonly object[]) =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('');

async function sendLines(world: World, lines: readonly object[], more: object = {}): Promise<void> {
  const headers = { apikey: world.key, 'content-type': 'application/x-ndjson', ...more };
  const response = await fetch(`${world.origin}/api/v1/import`, {
    method: 'POST',
    headers,
    body: toNdjson(lines),
  });
  const text = await response.text();
  const { summary } = JSON.parse(text.trim().split('\n').at(-1)!);
  assert.equal(summary?.failed, 0, text.slice(0, 2000));
}

/** One object has many versions. */
async function fillHistory(world: World): Promise<void> {
  const lines = Array.from({ length: world.size }, (_, index) => ({
    type: 'customer',
    action: 'merge',
    data: { externalId: 'largest', companyName: `Version ${index}` },
  }));
  for (let start = 0; start < lines.length; start += 20)
    await sendLines(world, lines.slice(start, start + 20));
}

/** One deletion takes many objects along. */
async function fillBin(service: TestService, world: World): Promise<void> {
  const owner = {
    type: 'customer',
    data: { ...customerBody(world), externalId: 'deleted', customerNumber: 'deleted' },
  };
  const site = resources.find(({ name }) => name === 'site')!;
  const sites = Array.from({ length: world.size }, (_, index) => {
    const { customerId: _customerId, ...body } = fullBody(site.fields, world.ids, fewItems);
    return { type: 'site', data: { ...body, customerExternalId: 'deleted', externalId: `deleted-${index}` } };
  });
  await sendLines(world, [owner, ...sites]);
  await sendLines(world, [
    { type: 'customer', action: 'delete', cascade: true, data: { externalId: 'deleted' } },
  ]);
  const { rows } = await service.owner.query(
    `SELECT id FROM deleted_object WHERE tenant_id = $1 AND resource = 'customer'`,
    [world.tenantId],
  );
  world.ids.deleted = rows[0].id;
}

function customerBody(world: World) {
  const customer = resources.find(({ name }) => name === 'customer')!;
  return fullBody(customer.fields, world.ids, fewItems);
}
