// One search over everything: the best matches of all resources, with what matched in each.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { writeDate } from '../../../core/calendar/day-words.ts';
import type { Steps } from '../../../core/pace.ts';
import { matchText, type SearchedText, tokensOf } from '../../../core/search-match.ts';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import type { JsonSchema } from '../../engine/definition/fields.ts';
import { answer, errorResponses } from '../../engine/openapi/answers.ts';
import { severalOf } from '../../engine/openapi/parameters.ts';
import { searchTokens } from '../../engine/read/search.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { languageOf, readLimit, refuseUnknownParameters } from '../../http/conventions.ts';
import { paceOf } from '../../http/request-pace.ts';
import type { Language } from '../../messages.ts';
import { reportRecord, type WarningLog } from '../../telemetry/record-net.ts';
import { buildSearch, type FoundRow, isPersonName, searchedTexts } from './search-query.ts';

const maxLimit = 20;
const longestQuery = 200;

interface Result {
  type: string;
  id: string;
  title: string;
  where: string;
  matched: { field: string; text: string }[];
}

export async function searchRoutes(
  api: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
): Promise<void> {
  const names = resources.map(({ name }) => name);
  const searches = new Map(
    resources.map((definition) => [
      definition.name,
      {
        definition,
        exact: buildSearch(definition, resources, false),
        tolerant: buildSearch(definition, resources, true),
      },
    ]),
  );

  api.get('/search', { schema: docsFor(names), config: { isHeavyRead: true } }, async (request) => {
    const { q, tokens, types, limit } = parseRequest(request, names);
    const isCarer = request.session?.person.role === 'PFLEGE';
    const asked = types
      .map((type) => searches.get(type)!)
      .filter(({ definition }) => !(isCarer && definition.isHiddenFromCare));
    const { tenantId, deadline } = request;
    const find = async (texts: string[]) => {
      if (texts.length === 0) return [];
      const query = { text: texts.join(' UNION ALL '), values: [tenantId, tokens] };
      return (await database.queryInTenants<FoundRow>([tenantId], query, { deadline })).rows;
    };
    const exact = await find(asked.map((search) => search.exact));
    // Typing errors are looked for only if nothing is spelled so: that takes many times longer.
    const rows = exact.length > 0 ? exact : await find(asked.map((search) => search.tolerant));
    const ranking = rank(rows, {
      q,
      language: languageOf(request),
      isCarer,
      definitionOf: (type) => searches.get(type)!.definition,
      log: request.log,
    });
    const ranked = await paceOf(request).run(ranking);
    ranked.sort(
      (one, other) =>
        other.score - one.score ||
        names.indexOf(one.result.type) - names.indexOf(other.result.type) ||
        byTitle.compare(one.result.title, other.result.title),
    );
    return { data: ranked.slice(0, limit).map(({ result }) => result) };
  });
}

const byTitle = new Intl.Collator('de');

interface Asked {
  q: string;
  language: Language;
  isCarer: boolean;
  log: WarningLog;
  definitionOf(type: string): Definition;
}

interface Ranked {
  score: number;
  result: Result;
}

export function* rank(rows: readonly FoundRow[], asked: Asked): Steps<Ranked[]> {
  const ranked: Ranked[] = [];
  for (const row of rows) {
    const hidden = asked.isCarer ? asked.definitionOf(row.type).hiddenFromCare : [];
    try {
      const found = yield* rankRow(row, asked, hidden);
      if (found) ranked.push(found);
    } catch (error) {
      reportRecord(asked.log, 'search', row.id, error);
      // A field that a carer must not search may have matched.
      if (hidden.length > 0) continue;
      ranked.push({
        score: 0,
        result: { type: row.type, id: row.id, title: row.id, where: '', matched: [] },
      });
    }
  }
  return ranked;
}

/** Undefined if only hidden fields match. */
function* rankRow(
  row: FoundRow,
  { q, language, definitionOf }: Asked,
  hidden: readonly string[],
): Steps<Ranked | undefined> {
  const definition = definitionOf(row.type);
  const texts = searchedTexts(definition, row).filter(({ field }) => !hidden.includes(field));
  if (hidden.length > 0 && !(yield* isFoundIn(texts, q))) return undefined;
  const { score, matched } = yield* matchText(q, texts);
  const result: Result = {
    type: row.type,
    id: row.id,
    title: titleOf(definition, row, language),
    where: whereOf(definition, row),
    matched: matched.map(({ field, text }) => ({ field, text })),
  };
  return { score, result };
}

/** An object that only a hidden field fits would reveal the content of the field. */
function* isFoundIn(texts: readonly SearchedText[], q: string): Steps<boolean> {
  for (const token of tokensOf(q)) {
    const { matched } = yield* matchText(token, texts);
    if (matched.length === 0) return false;
  }
  return true;
}

function titleOf(definition: Definition, { texts, names, id }: FoundRow, language: Language): string {
  const { searchedBy, fields } = definition;
  if (isPersonName(searchedBy.names)) return [texts.firstName, texts.lastName].filter(Boolean).join(' ');
  const name = searchedBy.names.find((field) => texts[field]);
  const own = name && (fields[name]?.kind === 'date' ? writeDate(texts[name]!, language) : texts[name]);
  // A plant may have only its product's name.
  const through = searchedBy.through.findIndex(([step]) => !fields[step![0]]?.reference?.isOwner);
  const noun = language === 'de' ? definition.de : definition.title;
  return own ?? names[through] ?? `${noun} ${id.slice(-6)}`;
}

/** "Möbelhaus Brügge · Hamburg" */
function whereOf({ searchedBy, fields }: Definition, { texts, names }: FoundRow): string {
  const owners = names.filter((_, place) => fields[searchedBy.through[place]![0]![0]]?.reference?.isOwner);
  return [...owners, texts['address.city']].filter(Boolean).join(' · ');
}

function parseRequest(request: FastifyRequest, names: readonly string[]) {
  refuseUnknownParameters(request, ['q', 'types', 'limit']);
  const query = request.query as Record<string, string | string[] | undefined>;
  const fieldErrors: FieldError[] = Object.keys(query)
    .filter((name) => typeof query[name] !== 'string')
    .map((name) => ({ path: [name], code: 'repeated_parameter' }));
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  const { q = '', types, limit = String(maxLimit) } = query as Record<string, string | undefined>;
  const tokens = searchTokens(q);
  const count = readLimit(limit, maxLimit);
  const asked = types === undefined ? names : types.split(',');
  if (!tokens.some((token) => /[\p{L}\p{N}]/u.test(token))) fieldErrors.push({ path: ['q'], code: 'blank' });
  else if (q.length > longestQuery)
    fieldErrors.push({ path: ['q'], code: 'too_long', params: { max: longestQuery } });
  if (count === undefined)
    fieldErrors.push({ path: ['limit'], code: 'out_of_range', params: { min: 1, max: maxLimit } });
  if (!asked.every((type) => names.includes(type)))
    fieldErrors.push({ path: ['types'], code: 'invalid_choice', params: { choices: names } });
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return { q, tokens, types: [...new Set(asked)], limit: count! };
}

export function searchSchemas(resources: readonly Definition[]): readonly JsonSchema[] {
  return [
    {
      $id: 'SearchResults',
      title: 'Results of a search',
      type: 'object',
      properties: {
        data: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              type: {
                type: 'string',
                enum: resources.map(({ name }) => name),
                description: 'Type of the object.',
              },
              id: { type: 'string', format: 'uuid', description: 'Id of the object.' },
              title: { type: 'string', description: 'What people call it.' },
              where: {
                type: 'string',
                description: 'Whose it is and where, such as "Hotel Alsterblick · Hamburg".',
              },
              matched: {
                type: 'array',
                items: {
                  type: 'object',
                  properties: {
                    field: {
                      type: 'string',
                      description: 'Path of the field, or of the reference to the object with this name.',
                    },
                    text: { type: 'string', description: 'Its text.' },
                  },
                  required: ['field', 'text'],
                },
                description: 'The fields that matched.',
              },
            },
            required: ['type', 'id', 'title', 'where', 'matched'],
          },
        },
      },
      required: ['data'],
    },
  ];
}

function docsFor(names: readonly string[]) {
  return {
    operationId: 'search',
    summary: 'Search everything',
    description:
      'Finds objects of all types by what identifies them, the best matches first. The parameter `q` of each list names the fields that it searches. Typing errors are tolerated if nothing matches exactly. Case, accents and letters of other languages do not matter.',
    tags: ['Search'],
    querystring: {
      type: 'object',
      properties: {
        q: {
          type: 'string',
          minLength: 1,
          maxLength: longestQuery,
          // A letter or digit of any language, as closely as every generator reads it.
          pattern: '[^\\s!-/:-@[-`{-~]',
          description: 'Words that must all match, with at least one letter or digit.',
        },
        types: {
          ...severalOf({ type: 'string', enum: names }),
          description: 'Only these types.',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: maxLimit,
          default: maxLimit,
          description: 'Most results.',
        },
      },
      required: ['q'],
    },
    response: {
      200: answer('The best matches.', { $ref: 'SearchResults#' }),
      ...errorResponses(400, 401, 403, 429, 500),
    },
  };
}
