// The line below the name that says what a search matched.
import { findMatch, type SearchedText } from '../../../core/search-match.ts';
import { type Definition, type Entity, valueAt } from '../api/definitions.ts';
import { describeMatches, type Matched } from '../search/matches.ts';
import classes from './table.module.css';

export default function Matches({
  definition,
  entity,
  q,
}: {
  definition: Definition;
  entity: Entity;
  q: string;
}) {
  const matched = findOwnMatches(definition, entity, q);
  const text = describeMatches(definition, matched, '').join(' · ');
  return text === '' ? null : <span className={classes.hint}>{text}</span>;
}

/** Finds the fields of an object that match the search. */
function findOwnMatches(definition: Definition, entity: Entity, q: string): Matched[] {
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
