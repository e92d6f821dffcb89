// Redacts named texts in records and in the journal. Everything runs in the transaction of the erasure.
import type pg from 'pg';
import { longStatementMs, type TimedQuery } from '../../database/timeouts.ts';
import { type Column, columnsOf, type Definition } from '../../engine/definition/definition.ts';
import type { Fields } from '../../engine/definition/fields.ts';
import { isObject } from '../../engine/definition/validation.ts';
import type { Intent } from '../../engine/write/intent.ts';
import { mergeInto } from '../../engine/write/merge-patch.ts';
import { buildObjectLookUp, type FindObjects } from '../../engine/write/object-look-up.ts';
import { prepareWriting } from '../../engine/write/resource.ts';
import type { Stored } from '../../engine/write/rows.ts';
import { writeWhole } from '../../engine/write/write.ts';
import { ApiError, validationError } from '../../errors.ts';
import type { Author } from '../../http/conventions.ts';
import { parseJson } from '../../http/json-body.ts';
import { holdsPattern, type NamedTexts, redactJson } from './named-texts.ts';

/** A text that more of them hold names no person, and must not be lost by mistake. */
const maxRecords = 100;
const maxEntries = 1000;

interface Searched {
  definition: Definition;
  /** Columns in which people write freely. */
  text: string;
  findObjects: FindObjects;
}

export function buildRedaction(resources: readonly Definition[]) {
  const writing = prepareWriting(resources);
  const searched = resources
    .filter((definition) => searchedColumns(definition).length > 0)
    .map((definition) => toSearched(definition));

  /** Locks the records that hold a text, but not the erased one. All rows are locked before the journal's head. */
  async function lockRecords(client: pg.ClientBase, tenantId: string, erasedId: string, texts: NamedTexts) {
    const found: { kind: Searched; current: Stored }[] = [];
    for (const kind of searched) {
      const { rows } = await client.query<{ id: string }>({
        text: `SELECT id FROM ${kind.definition.table} WHERE tenant_id = $1 AND id <> $2
          AND ${holdsPattern(kind.text, '$3')} ORDER BY id LIMIT ${maxRecords + 1}`,
        values: [tenantId, erasedId, texts.patterns],
        query_timeout: longStatementMs,
      } as TimedQuery);
      if (found.length + rows.length > maxRecords) throw tooCommon(maxRecords);
      const ids = rows.map(({ id }) => id);
      const locked = await kind.findObjects(client, tenantId, ids, 'FOR UPDATE');
      for (const current of locked.values()) found.push({ kind, current });
    }
    return found;
  }

  /** Writes the locked records without the texts, as any other change; answers how many have changed. */
  async function redactRecords(
    client: pg.ClientBase,
    tenantId: string,
    records: Awaited<ReturnType<typeof lockRecords>>,
    texts: NamedTexts,
    author: Author,
  ): Promise<number> {
    const intents = records.flatMap(({ kind: { definition }, current }): Intent[] => {
      const patch = redactedFields(definition, current.json, texts);
      if (Object.keys(patch).length === 0) return [];
      const resource = writing.resources.find((one) => one.definition === definition)!;
      const body = parseJson(Buffer.from(JSON.stringify(patch)));
      return [
        {
          resource,
          tenantId,
          author,
          name: { id: current.id },
          sent: {},
          mayRevive: true,
          mayWait: false,
          decide: (found) => resource.check(mergeInto(definition, found, body)),
        },
      ];
    });
    for (const outcome of (await writeWhole(client, writing, intents)).values())
      if (outcome instanceof ApiError) throw outcome;
    return intents.length;
  }

  /** Redacts records in the bin, which have no history to tell of it. */
  async function redactBin(client: pg.ClientBase, tenantId: string, { patterns, redact }: NamedTexts) {
    for (const { definition } of searched) {
      const { rows } = await client.query<{ id: string; content: string }>({
        text: `SELECT id, content::text AS content FROM deleted_object WHERE tenant_id = $1 AND resource = $2
          AND ${holdsPattern('content::text', '$3')} LIMIT ${maxRecords + 1} FOR UPDATE`,
        values: [tenantId, definition.name, patterns],
        query_timeout: longStatementMs,
      } as TimedQuery);
      if (rows.length > maxRecords) throw tooCommon(maxRecords);
      const redacted = rows.map(({ id, content }) => ({
        id,
        content: redactRow(definition, content, redact),
      }));
      await client.query(
        `UPDATE deleted_object SET content = sent.content, search_text = ''
         FROM json_to_recordset($3) AS sent (id uuid, content json)
         WHERE tenant_id = $1 AND resource = $2 AND deleted_object.id = sent.id`,
        [tenantId, definition.name, JSON.stringify(redacted)],
      );
    }
  }

  return { lockRecords, redactRecords, redactBin };
}

/** Unique values and kept external ids stay: other systems find the record by them. */
function searchedColumns({ fields, uniqueFields }: Definition): Column[] {
  return columnsOf(fields).filter(
    ({ path, field }) =>
      field.kind === 'list' || (isFreeText(field) && !uniqueFields.includes(path.join('.'))),
  );
}

function toSearched(definition: Definition): Searched {
  return {
    definition,
    text: `concat_ws(' ', ${searchedColumns(definition)
      .map(({ name }) => `${name}::text`)
      .join(', ')})`,
    findObjects: buildObjectLookUp(definition),
  };
}

function isFreeText({ kind, choiceTitles, twinOf }: Fields[string]): boolean {
  return kind === 'text' && !choiceTitles && !twinOf;
}

/** A row of the bin, by column names. */
function redactRow(definition: Definition, content: string, redact: NamedTexts['redact']): unknown {
  const before = redactJson(content, (text) => text) as Record<string, unknown>;
  const after = redactJson(content, redact) as Record<string, unknown>;
  const changed = searchedColumns(definition).map(({ name, field }) => {
    // A part of an e-mail address is none.
    const isBroken = field.schema.format && !field.isRequired && before[name] !== after[name];
    return [name, isBroken ? null : after[name]];
  });
  return { ...before, ...Object.fromEntries(changed) };
}

/** The merge patch that takes the texts away. */
function redactedFields(
  definition: Definition,
  json: string,
  { redact }: NamedTexts,
): Record<string, unknown> {
  return differing(
    definition,
    definition.fields,
    [],
    redactJson(json, (text) => text),
    redactJson(json, redact),
  );
}

function differing(
  definition: Definition,
  fields: Fields,
  parents: readonly string[],
  before: unknown,
  after: unknown,
): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  if (!isObject(before) || !isObject(after)) return patch;
  for (const [name, field] of Object.entries(fields)) {
    const path = [...parents, name];
    if (field.fields) {
      const members = differing(definition, field.fields, path, before[name], after[name]);
      if (Object.keys(members).length > 0) patch[name] = members;
    } else if (field.kind === 'list') {
      if (JSON.stringify(before[name]) !== JSON.stringify(after[name])) patch[name] = after[name];
    } else if (isFreeText(field) && before[name] !== after[name]) {
      if (definition.uniqueFields.includes(path.join('.'))) continue;
      // A part of an e-mail address is none.
      patch[name] = field.schema.format && !field.isRequired ? null : after[name];
    }
  }
  return patch;
}

/** Finds the entries before the journal's head is locked, which holds up the other writers of the tenant. */
export async function findEntries(client: pg.ClientBase, tenantId: string, { patterns }: NamedTexts) {
  const head = await client.query<{ last_position: string }>(
    'SELECT last_position FROM journal_head WHERE tenant_id = $1',
    [tenantId],
  );
  const scannedUpTo = head.rows[0]?.last_position ?? '0';
  const { rows } = await client.query<{ position: string }>({
    text: `SELECT position FROM journal WHERE tenant_id = $1 AND position <= $2 AND changes IS NOT NULL
      AND ${holdsPattern('changes::text', '$3')} LIMIT ${maxEntries + 1}`,
    values: [tenantId, scannedUpTo, patterns],
    query_timeout: longStatementMs,
  } as TimedQuery);
  if (rows.length > maxEntries) throw tooCommon(maxEntries);
  return { scannedUpTo, positions: rows.map(({ position }) => position) };
}

/** Redacts those entries, and the ones that were written meanwhile, this transaction's own included. */
export async function redactEntries(
  client: pg.ClientBase,
  tenantId: string,
  { scannedUpTo, positions }: Awaited<ReturnType<typeof findEntries>>,
  { patterns, redact }: NamedTexts,
): Promise<void> {
  const { rows } = await client.query<{ position: string; changes: string }>({
    text: `SELECT position, changes::text AS changes FROM journal WHERE tenant_id = $1 AND changes IS NOT NULL
      AND (position = ANY ($2) OR (position > $3 AND ${holdsPattern('changes::text', '$4')}))`,
    values: [tenantId, positions, scannedUpTo, patterns],
    query_timeout: longStatementMs,
  } as TimedQuery);
  const redacted = rows.map(
    ({ position, changes }) =>
      `{"position":${position},"changes":${JSON.stringify(redactJson(changes, redact))}}`,
  );
  await client.query(
    `UPDATE journal SET changes = sent.changes
     FROM json_to_recordset($2) AS sent (position bigint, changes json)
     WHERE tenant_id = $1 AND journal.position = sent.position`,
    [tenantId, `[${redacted.join(',')}]`],
  );
}

function tooCommon(max: number) {
  return validationError([{ path: ['text'], code: 'too_common', params: { max } }]);
}
