// Everything about one person, and its erasure, which leaves nothing behind that names the person.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { recordAudit } from '../../access/audit-log.ts';
import type { Database } from '../../database/database.ts';
import { longStatementMs } from '../../database/timeouts.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { noteDryRun } from '../../engine/http/dry-run.ts';
import { toChunks } from '../../engine/http/export-stream.ts';
import { type IdRoute, idOf } from '../../engine/http/route-conventions.ts';
import type { Intent } from '../../engine/write/intent.ts';
import { buildObjectLookUp } from '../../engine/write/object-look-up.ts';
import { retryRaces } from '../../engine/write/races.ts';
import { prepareWriting } from '../../engine/write/resource.ts';
import { writeWhole } from '../../engine/write/write.ts';
import { ApiError } from '../../errors.ts';
import { type Author, authorOf, isDryRun, refuseUnknownParameters } from '../../http/conventions.ts';
import { sendStream, streamConfig } from '../../http/streamed-answer.ts';
import { type Removed, removeFromBin } from './bin-removal.ts';
import { type HarmlessWords, harmlessWordsOf } from './harmless-words.ts';
import { buildNamedTexts, knownBy, type NamedTexts, readNamedTexts } from './named-texts.ts';
import { findExported, writeExported } from './person-export.ts';
import { findAllIds, findInBin, findPerson, type Kind } from './person-look-up.ts';
import { personalDataDocs, personalOnes } from './personal-data-docs.ts';
import { buildRedaction, findEntries, redactEntries } from './redaction.ts';

/** Removes what an erasure removes beside the record, its history and the bin. */
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
const erasureConfig = { needsRecentProof: true } as const;

/** Tools for reading and erasing a person, built once. */
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
      findObjects: buildObjectLookUp(definition),
    })),
    redaction: buildRedaction(resources),
    harmlessWords: harmlessWordsOf(resources),
    eraseTraces,
  };

  api.get<IdRoute>(path, { schema: docs.read, config: streamConfig }, async (request, reply) => {
    refuseUnknownParameters(request, []);
    const { tenantId, deadline } = request;
    const named = idOf(request);
    const begin = async (client: pg.ClientBase) => {
      const person = await findExported(client, people.kinds, tenantId, named);
      const [subject, details] = [{ id: person.id }, { resource: person.definition.name }];
      await recordAudit(client, tenantId, request, { event: 'DATA_EXPORTED', subject, details });
      return person;
    };
    const person = await database.inTenants([tenantId], begin, { deadline });
    reply.type('application/json; charset=utf-8');
    return sendStream(request, reply, toChunks(writeExported({ database, tenantId, resources }, person)));
  });

  api.delete<IdRoute>(path, { schema: docs.erase, config: erasureConfig }, async (request, reply) => {
    refuseUnknownParameters(request, ['dryRun', 'text']);
    const id = idOf(request);
    const texts = readNamedTexts((request.query as { text?: unknown }).text);
    // Without the deadline of other requests: there may be much to search through.
    const options = { isDryRun: isDryRun(request) };
    const work = (client: pg.ClientBase) => erasePerson(client, people, request, id, texts);
    await retryRaces(() => database.inTenants([request.tenantId], work, options));
    if (options.isDryRun) return noteDryRun();
    reply.code(204);
  });
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
  const { definition, person } = await findPerson(client, kinds, tenantId, named, 'FOR UPDATE');
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
  if (person) await deletePerson(client, resources, definition, { tenantId, id, author });
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

async function deletePerson(
  client: pg.ClientBase,
  resources: readonly Definition[],
  definition: Definition,
  { tenantId, id, author }: { tenantId: string; id: string; author: Author },
): Promise<void> {
  const writing = prepareWriting(resources);
  const resource = writing.resources.find((one) => one.definition === definition)!;
  const deletion = { isCascade: false };
  const common = { resource, tenantId, author, sent: {}, mayRevive: true, mayWait: false };
  const intent: Intent = { ...common, name: { id }, deletion, decide: () => undefined };
  const outcome = (await writeWhole(client, writing, [intent])).get(intent);
  if (outcome instanceof ApiError) throw outcome;
}

/** Objects of a person are personal, too: the deleted site of a private customer was a home. */
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
  await client.query(
    'UPDATE import_run SET former_names = NULL WHERE tenant_id = $1 AND object_id = ANY ($2)',
    [tenantId, ids],
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
