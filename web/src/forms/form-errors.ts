// Assigns the service's errors to the form fields that show them.
import i18next from 'i18next';
import { type ApiError, call } from '../api/client.ts';
import { type Definition, type Entity, type Field, labelOf, leavesOf } from '../api/definitions.ts';
import { fieldErrorText } from '../inputs/field-error-text.ts';

/** An error inside a list belongs to the list. */
export function leafAt(leaves: readonly Field[], path: string): Field | undefined {
  return leaves.find((leaf) => path === leaf.path || path.startsWith(`${leaf.path}.`));
}

export async function errorsByField(definition: Definition, failure: ApiError): Promise<Map<string, string>> {
  const leaves = leavesOf(definition.fields);
  const errors = new Map<string, string>();
  for (const error of failure.errors) {
    const leaf = leafAt(leaves, error.field);
    if (leaf && !errors.has(leaf.path)) errors.set(leaf.path, fieldErrorText(leaf, error, definition));
  }
  if (failure.code === 'conflict') {
    errors.set(String(failure.details.field), await takenText(definition, failure.details.id));
  }
  return errors;
}

/** Names the record that holds the value, unless it is gone meanwhile. */
async function takenText(definition: Definition, id: unknown): Promise<string> {
  const holder = await call<Entity>('GET', `/${definition.collection}/${id}`).catch(() => undefined);
  if (!holder) return i18next.t('fieldError.taken');
  return i18next.t('fieldError.takenBy', { name: labelOf(definition, holder) });
}
