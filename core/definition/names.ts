// The names by which people know an object, in spreadsheets and in the import.

import { plainLetters } from '../letters.ts';
import type { Definition } from './definition.ts';

type Described = Pick<Definition, 'nameField' | 'uniqueFields'>;

/** The fields that may give an object its name, the best first. */
function nameFieldsOf({ nameField, uniqueFields }: Described): string[] {
  const numbers = uniqueFields.filter((field) => field !== 'externalId');
  const own = nameField === 'lastName' ? ['firstName', 'lastName'] : [nameField, 'name', 'commonName'];
  return [...new Set([...own, ...numbers])];
}

/** Includes what identifies a contract without a number: its kind and start. */
export function labelFieldsOf(definition: Described): string[] {
  return [...nameFieldsOf(definition), 'type', 'startDate'];
}

/** Name in an export. Undefined if it has neither name nor number. */
export function nameOf(definition: Described, entity: Record<string, unknown>): string | undefined {
  if (definition.nameField === 'lastName') {
    return [entity.firstName, entity.lastName].filter(Boolean).join(' ');
  }
  const candidates = nameFieldsOf(definition).map((field) => entity[field]);
  return candidates.find((name): name is string => typeof name === 'string' && name.trim() !== '');
}

/** Stands in for the name of an object that has none, or that is gone. The id has a column of its own. */
export const namelessTitles = { de: '(ohne Namen)', en: '(no name)' };

export function isNameless(name: string): boolean {
  return Object.values(namelessTitles).includes(name.trim());
}

const spellings: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' };

/** Case, blanks, accents and the spelling of umlauts make no difference. */
export function foldName(name: string): string {
  const lower = name.normalize('NFC').toLowerCase();
  return plainLetters(lower.replace(/[äöüß]/g, (letter) => spellings[letter]!))
    .replace(/\s+/g, ' ')
    .trim();
}

/** The fields that `callNamesOf` reads. */
export function calledByFields(definition: Described): string[] {
  return [...new Set([...nameFieldsOf(definition), ...definition.uniqueFields])];
}

/** Every way to call an object: its name, its numbers and its external id. A person is also "Harms, Jonas" and "Harms". */
export function callNamesOf(definition: Described, entity: Record<string, unknown>): string[] {
  const { firstName, lastName } = entity;
  const names = [
    nameOf(definition, entity),
    ...(definition.nameField === 'lastName'
      ? [lastName, `${lastName}, ${firstName}`, `${lastName} ${firstName}`]
      : [entity[definition.nameField]]),
    ...definition.uniqueFields.map((field) => entity[field]),
  ];
  return [...new Set(names.filter((name) => typeof name === 'string').map((name) => foldName(name)))];
}
