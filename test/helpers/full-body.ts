import type { Definition } from '../../server/engine/definition/definition.ts';
import type { Field, Fields } from '../../server/engine/definition/fields.ts';

/** A body with a value for every field of any resource. `idOf` names an object that it refers to. */
export function fullBody(definition: Definition, idOf: (resource: string) => string): object {
  return fill(definition.fields, idOf);
}

/** Without the values that only one object may have together: for another object beside a full one. */
export function uncrowded({ uniqueTogether }: Definition): Record<string, undefined> {
  return Object.fromEntries(uniqueTogether.map((names) => [names.at(-1)!, undefined]));
}

function fill(fields: Fields, idOf: (resource: string) => string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      // A reference has one of its two names.
      .filter(([, field]) => !field.twinOf)
      .map(([name, field]) => {
        if (field.fields) return [name, fill(field.fields, idOf)];
        return [name, field.reference ? idOf(field.reference.resources[0]!) : sampleValue(field)];
      }),
  );
}

function sampleValue({ kind, schema }: Field): unknown {
  const { enum: choices, examples, default: fallback } = schema as Record<string, unknown[] | undefined>;
  const usual = { text: 'X', flag: true, date: '2026-01-01', list: [{ any: 'shape' }] } as const;
  return (
    (choices ?? examples)?.[0] ?? fallback ?? usual[kind as keyof typeof usual] ?? (schema.minimum as number)
  );
}
