// Merge patches that bring an object back to what it was.
import type { Definition, Field } from '../api/definitions.ts';
import { exactMember } from '../api/exact-numbers.ts';
import type { Change } from '../api/records.ts';

type Values = Record<string, unknown>;

/** A merge patch that replaces a field by an earlier value: members of a group that were missing are cleared. */
function replacing(field: Field | undefined, value: unknown): unknown {
  if (!field?.fields) return value ?? null;
  const group = (value ?? {}) as Values;
  return Object.fromEntries(
    field.fields.map((member) => [member.name, replacing(member, group[member.name])]),
  );
}

/** The patch to `before` for all fields that differ in `after`. */
export function patchBack(definition: Definition, before: Values, after: Values): Values {
  const changed = definition.fields.filter(
    ({ name }) => JSON.stringify(exactMember(before, name)) !== JSON.stringify(exactMember(after, name)),
  );
  return Object.fromEntries(
    changed.map((field) => [field.name, replacing(field, exactMember(before, field.name))]),
  );
}

/** The fields that differ from an earlier state, with the values that they had then. */
export type EarlierValues = ReadonlyMap<string, unknown>;

/**
 * Returns what differs between the state after each entry and the present one. `history` begins with the newest entry.
 * Undefined for entries before a change that the journal has forgotten.
 */
export function earlierStates(history: readonly Change[]): (EarlierValues | undefined)[] {
  let later: Map<string, unknown> | undefined = new Map();
  return history.map((change) => {
    const state = later && new Map(later);
    if (change.action === 'CHANGED') {
      if (change.changes)
        for (const [name, values] of Object.entries(change.changes))
          later?.set(name, exactMember(values, 'from'));
      else later = undefined;
    }
    return state;
  });
}

export function patchTo(definition: Definition, values: EarlierValues): Values {
  const fieldOf = (name: string) => definition.fields.find((field) => field.name === name);
  return Object.fromEntries([...values].map(([name, value]) => [name, replacing(fieldOf(name), value)]));
}
