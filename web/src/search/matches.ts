// Names the matches of a search in the words of the page.
import { type Definition, leavesOf, titleOf } from '../api/definitions.ts';

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
