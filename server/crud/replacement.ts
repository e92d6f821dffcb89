// Replacing a stored object by what a checked body says, whichever way the body came.
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { type Fault, validationError } from '../errors.ts';
import { type Definition, ownersOf } from './definition.ts';
import { parseStored } from './merge-patch.ts';
import type { Check, Checked, Row } from './validation.ts';
import type { Author, NewRow, Stored, Writes } from './writes.ts';

export type Replacement = ReturnType<typeof buildReplacement>;

export function buildReplacement(definition: Definition, check: Check, writes: Writes) {
  const owners = ownersOf(definition);
  const ownerNames = new Set(owners.flatMap(({ column, externalName }) => [column.path[0]!, externalName]));

  /** Owners can be looked for unless what names them is itself at fault. */
  function canResolveOwners(faults: readonly Fault[]): boolean {
    return faults.every(({ path }) => path.length > 0 && !ownerNames.has(String(path[0])));
  }

  /** What a check found, and which owners do not exist. Puts the ids of those that do into the row. */
  async function findAllFaults(
    client: pg.ClientBase,
    row: Row,
    faults: readonly Fault[],
  ): Promise<readonly Fault[]> {
    return canResolveOwners(faults) ? [...faults, ...(await writes.resolveOwners(client, row))] : faults;
  }

  /** Writes what the object becomes, if anything differs; throws everything that is wrong with it. */
  async function replace(
    client: pg.ClientBase,
    current: Stored,
    after: Checked,
    tenantId: string,
    author: Author,
  ): Promise<Stored> {
    const row: NewRow = { ...after.row, tenant_id: tenantId, id: current.id };
    const faults = await findAllFaults(client, row, after.faults);
    if (faults.length > 0) throw validationError(faults);
    const resolved = Object.fromEntries(owners.map(({ column }) => [column.path[0], row[column.name]]));
    const changes = findChanges(check(parseStored(current.json)).value, { ...after.value, ...resolved });
    if (Object.keys(changes).length === 0) return current;
    return writes.updateRow(client, row, author, changes);
  }

  function findChanges(before: Record<string, unknown>, after: Record<string, unknown>) {
    const changed = Object.keys(definition.fields).filter(
      (name) => !isDeepStrictEqual(before[name], after[name]),
    );
    return Object.fromEntries(changed.map((name) => [name, { from: before[name], to: after[name] }]));
  }

  return { canResolveOwners, findAllFaults, replace };
}
