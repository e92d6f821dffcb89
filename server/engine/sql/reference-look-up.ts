// Finds the objects that rows refer to, by id or by external id.
import type pg from 'pg';
import type { FieldError } from '../../errors.ts';
import {
  type Definition,
  looseReferencesOf,
  type Owner,
  ownersOf,
  type Reference,
  referencesOf,
  tableOf,
} from '../definition/definition.ts';
import type { Row } from '../definition/validation.ts';
import { buildRedirection } from './former-names.ts';
import { findHolders } from './value-look-up.ts';

type OwnerKey = 'id' | 'external_id';

/** The ids of the objects that exist, of those that rows name in `member`. */
type FindNamed = (
  resource: string,
  key: OwnerKey,
  rows: readonly Row[],
  member: string,
) => Promise<Map<Row, string>>;

export function buildReferenceLookUp(definition: Definition) {
  const owners = ownersOf(definition);
  const looseReferences = looseReferencesOf(definition);
  const references = referencesOf(definition);
  const redirectReferences = buildRedirection(definition);

  async function resolve(rows: readonly Row[], find: FindNamed): Promise<FieldError[][]> {
    const fieldErrors = new Map<Row, FieldError[]>(rows.map((row) => [row, []]));
    await resolveOwners(owners, rows, fieldErrors, find);
    await resolveLooseReferences(looseReferences, rows, fieldErrors, find);
    return rows.map((row) => fieldErrors.get(row)!);
  }

  /** Puts the ids of known external ids into the row, and reports missing owners. */
  async function resolveReferences(client: pg.ClientBase, row: Row): Promise<FieldError[]> {
    const [fieldErrors] = await resolveReferencesOfAll(client, String(row.tenant_id), [row]);
    return fieldErrors!;
  }

  /** The same for many rows of a tenant; returns the errors of each. */
  async function resolveReferencesOfAll(
    client: pg.ClientBase,
    tenantId: string,
    rows: readonly Row[],
  ): Promise<FieldError[][]> {
    await redirectReferences(client, rows);
    return resolve(rows, (resource, key, some, member) =>
      lockNamed(client, tenantId, resource, key, some, member),
    );
  }

  /** The owners that rows of any tenants name and that do not exist. For rows that are not written: it locks nothing. */
  async function findOwnerErrors(client: pg.ClientBase, rows: readonly Row[]): Promise<FieldError[][]> {
    const copies: Row[] = rows.map((row) => ({ ...row }));
    const fieldErrors = new Map<Row, FieldError[]>(copies.map((row) => [row, []]));
    await resolveOwners(owners, copies, fieldErrors, (resource, key, some, member) => {
      const type = key === 'id' ? 'uuid' : 'text';
      return findHolders(client, { resource, column: key, type }, some, member);
    });
    return copies.map((row) => fieldErrors.get(row)!);
  }

  /** Whether a row names something by both ids, which must then be compared before it is written. */
  function namesTwice(row: Row): boolean {
    return references.some(
      ({ column, externalColumn }) => row[column.name] !== undefined && row[externalColumn] !== undefined,
    );
  }

  return { resolveReferences, resolveReferencesOfAll, findOwnerErrors, namesTwice };
}

async function resolveOwners(
  owners: readonly Owner[],
  rows: readonly Row[],
  fieldErrors: Map<Row, FieldError[]>,
  find: FindNamed,
): Promise<void> {
  for (const owner of owners) {
    const { column, externalColumn, externalName, resource } = owner;
    const fieldError = { code: 'reference_not_found', params: { resource } } as const;
    const external = rows.filter((row) => row[externalColumn] !== undefined);
    const known = await find(resource, 'external_id', external, externalColumn);
    for (const row of external) {
      const id = known.get(row);
      if (!id) fieldErrors.get(row)!.push({ ...fieldError, path: [externalName] });
      else if (differs(row, owner, id)) fieldErrors.get(row)!.push(ambiguous(owner));
      else row[column.name] = id;
    }
    const direct = rows.filter((row) => row[externalColumn] === undefined && row[column.name] !== undefined);
    const existing = await find(resource, 'id', direct, column.name);
    for (const row of direct) {
      if (!existing.has(row)) fieldErrors.get(row)!.push({ ...fieldError, path: column.path });
    }
  }
}

/** Replaces a known external id by the id. The row keeps an unknown one. */
async function resolveLooseReferences(
  looseReferences: readonly Reference[],
  rows: readonly Row[],
  fieldErrors: Map<Row, FieldError[]>,
  find: FindNamed,
): Promise<void> {
  for (const reference of looseReferences) {
    const { column, externalColumn, resources } = reference;
    let open = rows.filter((row) => row[externalColumn] !== undefined);
    for (const resource of resources) {
      const known = await find(resource, 'external_id', open, externalColumn);
      for (const [row, id] of known) {
        if (differs(row, reference, id)) continue;
        row[column.name] = id;
        delete row[externalColumn];
      }
      open = open.filter((row) => row[externalColumn] !== undefined);
    }
    for (const row of open)
      if (row[column.name] !== undefined) fieldErrors.get(row)!.push(ambiguous(reference));
  }
}

function differs(row: Row, { column }: Reference, id: string): boolean {
  return row[column.name] !== undefined && row[column.name] !== id;
}

function ambiguous({ column, externalName }: Reference): FieldError {
  return { path: [externalName], code: 'ambiguous', params: { other: column.path[0]! } };
}

/** Nobody can delete the objects found before the transaction ends. */
async function lockNamed(
  client: pg.ClientBase,
  tenantId: string,
  resource: string,
  key: OwnerKey,
  rows: readonly Row[],
  member: string,
): Promise<Map<Row, string>> {
  if (rows.length === 0) return new Map();
  const table = tableOf(resource);
  const names = [...new Set(rows.map((row) => String(row[member])))];
  const { rows: found } = await client.query<{ id: string; name: string }>(
    `SELECT id, ${key} AS name FROM ${table} WHERE tenant_id = $1 AND ${key} = ANY ($2)
     ORDER BY id FOR KEY SHARE`,
    [tenantId, names],
  );
  const ids = new Map(found.map(({ id, name }) => [name, id]));
  const missing = names.filter((name) => !ids.has(name));
  if (key === 'external_id' && missing.length > 0) {
    const { rows: former } = await client.query<{ id: string; name: string }>(
      `SELECT holder.id, former.external_id AS name FROM former_external_id AS former
       JOIN ${table} AS holder ON holder.tenant_id = $1 AND holder.id = former.id
       WHERE former.tenant_id = $1 AND former.resource = $3 AND former.external_id = ANY ($2)
       ORDER BY holder.id FOR KEY SHARE OF holder`,
      [tenantId, missing, resource],
    );
    for (const { id, name } of former) ids.set(name, id);
  }
  return new Map(
    rows.flatMap((row) => {
      const id = ids.get(String(row[member]));
      return id ? [[row, id] as const] : [];
    }),
  );
}
