import type { Field } from '../api/definitions.ts';

export function isMoney(field: Field): boolean {
  return field.kind === 'decimal' && /(Price|Fee)$/.test(field.name);
}
