// Everything about one person, and its erasure, which leaves nothing behind that names the person.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { recordAudit } from '../../auth/audit-log.ts';
import type { Database } from '../../database/database.ts';
import { longStatementMs } from '../../database/timeouts.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { type IdRoute, idOf } from '../../engine/http/route-conventions.ts';
import { entryRepresentation } from '../../engine/sql/journal.ts';
import { retryRaces } from '../../engine/sql/races.ts';
import { type Removed, removeFromBin } from '../../engine/sql/restoration.ts';
import { buildWrites } from '../../engine/sql/row-store.ts';
import { ApiError } from '../../errors.ts';
import { authorOf, isDryRun, refuseUnknownParameters, sendJson } from '../../http/conventions.ts';
import { type HarmlessWords, harmlessWordsOf } from './harmless-words.ts';
import { buildNamedTexts, knownBy, type NamedTexts, readNamedTexts } from './named-texts.ts';
import { findAllIds, findInBin, findPerson, findReferences, type Kind } from './person-look-up.ts';
import { personalDataDocs, personalOnes } from './personal-data-docs.ts';
import { buildRedaction, findEntries, redactEntries } from './redaction.ts';

/** What an erasure removes beside the record, its history and the bin. */
export interface Traces {
  /** Those that the erasure names, and those by which the person is known. */
  texts: NamedTexts;
  harmlessWords: HarmlessWords;
}

type EraseTraces = (client: pg.ClientBase, tenantId: string, traces: Traces) => Promise<void>;

interface Options {
  database: Database;
  /** Belongs to the transaction that erases. */
  eraseTraces: EraseTraces;
  resources: readonly Definition[];
}

/** Below /app. A key needs neither. */
const erasureConfig = { access: 'VERWALTUNG', needsRecentProof: true } as const;

/** What reading and erasing a person need, built once. */
interface People {
  resources: readonly Definition[];
  kinds: readonly Kind[];
  redaction: ReturnType<typeof buildRedaction>;
  harmlessWords: HarmlessWords;
  eraseTraces: EraseTraces;
}

export async function personalDataRoutes(
  api: FastifyInstance,
  { database, eraseTraces, resources }: Options,
): Promise<void> {
  const docs = personalDataDocs(personalOnes(resources));
  const path = '/personal-data/:id';
  const people: People = {
    resources,
    kinds: personalOnes(resources).map((definition) => ({
      definition,
      writes: buildWrites(definition, resources),
    })),
    redaction: buildRedaction(resources),
    harmlessWords: harmlessWordsOf(resources),
    eraseTraces,
  };

  const readConfig = { access: 'VERWALTUNG', isHeavyRead: true } as const;
  api.get<IdRoute>(path, { schema: docs.read, config: readConfig }, async (request, reply) => {
    refuseUnknownParameters(request, []);
    const { tenantId, deadline } = request;
    const id = idOf(request);
    const work = (client: pg.ClientBase) => exportPerson(client, people, request, id);
    return sendJson(reply, await database.inTenants([tenantId], work, { deadline }));
  });

  api.delete<IdRoute>(path, { schema: docs.erase, config: erasureConfig }, async (request, reply) => {
    refuseUnknownParameters(request, ['dryRun', 'text']);
    const id = idOf(request);
    const texts = readNamedTexts((request.query as { text?: unknown }).text);
    // Without the deadline of other requests: there may be much to search through.
    const options = { isDryRun: isDryRun(request) };
    const work = (client: pg.ClientBase) => erasePerson(client, people, request, id, texts);
    await retryRaces(() => database.inTenants([request.tenantId], work, options));
    reply.code(204);
  });
}

/** Answers JSON. */
async function exportPerson(
  client: pg.ClientBase,
  { resources, kinds }: People,
  request: FastifyRequest,
  named: string,
): Promise<string> {
  const { tenantId } = request;
  const { definition, person } = await findPerson(client, kinds, tenantId, named, '');
  const id = person?.id ?? named;
  const inBin = person ? undefined : await findInBin(client, tenantId, definition, id);
  const { rows: history } = await client.query<{ json: string }>(
    `SELECT ${entryRepresentation} AS json FROM journal AS entry
     WHERE entry.tenant_id = $1 AND entry.resource_id = ANY ($2) AND entry.resource = $3 ORDER BY entry.position`,
    [tenantId, await findAllIds(client, tenantId, id), definition.name],
  );
  const references = await findReferences(client, resources, tenantId, definition, id);
  // Published before there were others.
  const sites = references.find(({ resource }) => resource === 'site')?.ids ?? [];
  const subject = { id };
  const details = { resource: definition.name };
  await recordAudit(client, tenantId, request, { event: 'DATA_EXPORTED', subject, details });
  const members = [
    `"resource":${JSON.stringify(definition.name)}`,
    `"person":${person?.json ?? inBin?.json ?? 'null'}`,
    ...(inBin ? [`"deletedAt":${inBin.deleted_at}`] : []),
    `"sites":${JSON.stringify(sites)}`,
    `"references":${JSON.stringify(references)}`,
    `"history":[${history.map((entry) => entry.json).join(',')}]`,
  ];
  return `{${members.join(',')}}`;
}

/** Rows are locked before the journal's head, as everywhere, and the record of calls last: others wait for both. */
async function erasePerson(
  client: pg.ClientBase,
  { resources, kinds, redaction, harmlessWords, eraseTraces }: People,
  request: FastifyRequest,
  named: string,
  texts: NamedTexts | undefined,
): Promise<void> {
  const { tenantId } = request;
  const author = authorOf(request);
  const { definition, writes, person } = await findPerson(client, kinds, tenantId, named, 'FOR UPDATE');
  const id = person?.id ?? named;
  const ids = await findAllIds(client, tenantId, id);
  const known = person ?? (await findInBin(client, tenantId, definition, id));
  const allTexts = buildNamedTexts([
    ...(texts?.texts ?? []),
    ...(known ? knownBy(definition, known.json) : []),
  ]);
  await client.query(`SET LOCAL statement_timeout = ${longStatementMs}`);
  if (texts) await demandTurn(client, tenantId);
  const records = texts ? await redaction.lockRecords(client, tenantId, id, texts) : [];
  const entries = texts && (await findEntries(client, tenantId, texts));
  if (person) await writes.deleteRow(client, tenantId, id, author);
  const redacted = texts
    ? await redaction.redactRecords(client, tenantId, records, texts, author)
    : undefined;
  if (texts) await redactEntries(client, tenantId, entries!, texts);
  const removed = await removeFromBin(client, tenantId, definition, ids, resources);
  if (texts) await redaction.redactBin(client, tenantId, texts);
  for (const each of removed) await clearTraces(client, tenantId, each);
  const details = { resource: definition.name, redactedRecords: redacted };
  if (!isDryRun(request))
    await recordAudit(client, tenantId, request, { event: 'DATA_ERASED', subject: { id }, details });
  await eraseTraces(client, tenantId, { texts: allTexts, harmlessWords });
}

/** What the person owned is the person's too: the deleted site of a private customer was a home. */
async function clearTraces(
  client: pg.ClientBase,
  tenantId: string,
  { resource, ids }: Removed,
): Promise<void> {
  // The entries stay without the person's data: the feed keeps its order and shows the deletion.
  await client.query(
    `UPDATE journal SET changes = NULL, external_id = NULL
     WHERE tenant_id = $1 AND resource_id = ANY ($2) AND resource = $3`,
    [tenantId, ids, resource],
  );
  await client.query('DELETE FROM former_external_id WHERE tenant_id = $1 AND id = ANY ($2)', [
    tenantId,
    ids,
  ]);
  // The key stays taken: a late retry must not bring the person back.
  await client.query(
    `UPDATE idempotent_request SET fingerprint = '' WHERE tenant_id = $1 AND resource_id = ANY ($2)`,
    [tenantId, ids],
  );
}

/** A search reads all data of a business: one at a time leaves connections to others. */
async function demandTurn(client: pg.ClientBase, tenantId: string): Promise<void> {
  const { rows } = await client.query<{ is_free: boolean }>(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('stamm: erase texts ' || $1, 0)) AS is_free`,
    [tenantId],
  );
  if (!rows[0]!.is_free) throw new ApiError('too_many_at_once');
}
