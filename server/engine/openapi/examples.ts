// Examples of requests and answers, from those of the definitions.
import { columnsOf, type Definition, ownersOf } from '../definition/definition.ts';

export const exampleId = '0198c0de-0000-7000-8000-000000000001';
const ownerId = '0198c0de-0000-7000-8000-000000000002';
const exampleTime = '2026-01-31T09:30:00.000Z';

/** Sets and clears a field that can be absent and that no other object can contend for. */
export function patchExamples(definition: Definition): { change: object; clear: object } {
  const name = columnsOf(definition.fields)
    .filter(({ path, field }) => path.length === 1 && !field.isRequired && field.schema.examples)
    .map(({ path }) => path[0]!)
    .find(
      (name) => !definition.uniqueFields.includes(name) && !definition.requiredOneOf.flat().includes(name),
    );
  if (name === undefined) return { change: {}, clear: {} };
  const [value] = definition.fields[name]!.schema.examples as unknown[];
  return { change: { [name]: value }, clear: { [name]: null } };
}

/** The object as it is read after the example was created. */
export function storedExample(definition: Definition): object {
  const owners = ownersOf(definition);
  const externalNames = new Set(owners.map(({ externalName }) => externalName));
  const sent = Object.entries(definition.example).filter(([name]) => !externalNames.has(name));
  const defaults = Object.entries(definition.fields).filter(([, field]) => field.default !== undefined);
  return {
    id: exampleId,
    ...Object.fromEntries(
      owners
        .filter(({ externalName }) => externalName in definition.example)
        .map(({ column }) => [column.path[0]!, ownerId]),
    ),
    ...Object.fromEntries(defaults.map(([name, field]) => [name, field.default])),
    ...Object.fromEntries(sent),
    version: 1,
    createdAt: exampleTime,
    updatedAt: exampleTime,
  };
}
