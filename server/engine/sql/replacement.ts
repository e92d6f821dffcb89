// Replaces a stored object by a checked body, from a request or an import.
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { type FieldError, validationError } from '../../errors.ts';
import type { Author } from '../../http/conventions.ts';
import { type Definition, ownersOf, referencesOf } from '../definition/definition.ts';
import type { Check, Checked } from '../definition/validation.ts';
import { parseStored } from '../http/merge-patch.ts';
import type { Writes } from './row-store.ts';
import type { NewRow, Stored, Update } from './rows.ts';

export type Replacement = ReturnType<typeof buildReplacement>;

export function buildReplacement(definition: Definition, check: Check, writes: Writes) {
  const references = referencesOf(definition);
  const ownerNames = new Set(
    ownersOf(definition).flatMap(({ column, externalName }) => [column.path[0]!, externalName]),
  );

  /** Owners can be looked up unless the fields that name them are invalid. */
  function canResolveOwners(fieldErrors: readonly FieldError[]): boolean {
    return fieldErrors.every(({ path }) => path.length > 0 && !ownerNames.has(String(path[0])));
  }

  /** Writes the object if anything differs. Throws one error that names every invalid field. */
  async function replace(
    client: pg.ClientBase,
    current: Stored,
    after: Checked,
    tenantId: string,
    author: Author,
  ): Promise<Stored> {
    const row: NewRow = { ...after.row, tenant_id: tenantId, id: current.id };
    const fieldErrors = canResolveOwners(after.fieldErrors)
      ? [...after.fieldErrors, ...(await writes.resolveReferences(client, row))]
      : after.fieldErrors;
    if (fieldErrors.length > 0) throw validationError(fieldErrors);
    const update = { row, current, changes: findChanges(current, after, row) };
    if (Object.keys(update.changes).length === 0) return current;
    const conflicts = await writes.findUpdateConflicts(client, [update]);
    if (conflicts.has(row)) throw conflicts.get(row);
    const [replaced] = await writes.updateRows(client, [update], author);
    return replaced!;
  }

  /** The fields that differ, of a row whose references have been looked up. */
  function findChanges(current: Stored, { value }: Checked, row: NewRow): Update['changes'] {
    const resolved = Object.fromEntries(
      references.flatMap(({ column, externalName, externalColumn }) => [
        [column.path[0], row[column.name]],
        [externalName, row[externalColumn]],
      ]),
    );
    const before = check(parseStored(current.json)).value;
    const after: Record<string, unknown> = { ...value, ...resolved };
    const changed = Object.keys(definition.fields).filter(
      (name) => !isDeepStrictEqual(before[name], after[name]),
    );
    return Object.fromEntries(changed.map((name) => [name, { from: before[name], to: after[name] }]));
  }

  return { canResolveOwners, replace, findChanges };
}
