// What a search matched, in the words of the page.
import { findMatch, type SearchedText } from '../../../core/search-match.ts';
import { type Definition, type Entity, leavesOf, titleOf, valueAt } from '../api/definitions.ts';

export interface Matched {
  field: string;
  text: string;
}

/** "Straße: Überseering" for each match that is neither the name nor shown already. */
export function describeMatches(
  definition: Definition,
  matched: readonly Matched[],
  shown: string,
): string[] {
  return matched
    .filter(({ field, text }) => field !== definition.searchedBy.names[0] && !shown.includes(text))
    .flatMap(({ field, text }) => {
      const title = fieldTitle(definition, field);
      return title === undefined ? [] : [`${title}: ${text}`];
    });
}

/** Which of its own fields a search found an object by. */
export function findOwnMatches(definition: Definition, entity: Entity, q: string): Matched[] {
  const { names, fields, codes, phones } = definition.searchedBy;
  const texts = fields.flatMap((field): SearchedText[] => {
    const text = valueAt(entity, field);
    const kind = names.includes(field)
      ? 'name'
      : codes.includes(field)
        ? 'code'
        : phones.includes(field)
          ? 'phone'
          : 'word';
    return typeof text === 'string' && text !== '' ? [{ field, text, kind }] : [];
  });
  return texts.length === 0 ? [] : findMatch(q, texts).matched;
}

/** "Name, Straße, PLZ, Ort, Externe ID, Kunde" */
export function searchedTitles(definition: Definition): string[] {
  const { fields, through } = definition.searchedBy;
  const paths = [...fields, ...through.filter((steps) => steps.length === 1).map(([step]) => step!.field)];
  return paths.flatMap((path) => fieldTitle(definition, path) ?? []);
}

function fieldTitle(definition: Definition, path: string): string | undefined {
  const field = leavesOf(definition.fields).find((leaf) => leaf.path === path);
  return field && titleOf(field);
}
