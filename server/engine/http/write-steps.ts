// Steps that the write routes of a resource share.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';
import { authorOf, etagOf } from '../../http/conventions.ts';
import { isStorableText, type JsonBody } from '../../http/json-body.ts';
import type { Definition } from '../definition/definition.ts';
import { isUuid } from '../definition/formats.ts';
import { buildCheck, type Check } from '../definition/validation.ts';
import { readClaim } from '../write/idempotency.ts';
import type { Claim, Intent, ObjectName, Written } from '../write/intent.ts';
import { retryRaces } from '../write/races.ts';
import { buildRequestWrites, type RequestWrites } from '../write/requests.ts';
import { prepareWriting, type Writing, type WrittenResource } from '../write/resource.ts';
import { writeObjects } from '../write/write.ts';
import { buildDryRunNotes } from './dry-run.ts';

/** A resource with everything that writes it. */
export interface WritableResource {
  definition: Definition;
  database: Database;
  check: Check;
  noteDryRun: ReturnType<typeof buildDryRunNotes>;
  writing: Writing;
  written: WrittenResource;
  requests: RequestWrites;
}

/** `all` are the resources that may belong to this one, or refer to it. */
export function openForWrites(
  definition: Definition,
  all: readonly Definition[],
  database: Database,
): WritableResource {
  const check = buildCheck(definition);
  const writing = prepareWriting(all);
  return {
    definition,
    database,
    check,
    noteDryRun: buildDryRunNotes(definition),
    writing,
    written: writing.resources.find((one) => one.definition === definition)!,
    requests: buildRequestWrites(database, writing),
  };
}

/** Undefined if nothing can have the name. */
export function objectNameOf(name: ObjectName): ObjectName | undefined {
  if ('id' in name) return isUuid(name.id) ? { id: name.id.toLowerCase() } : undefined;
  return isStorableText(name.externalId) ? { externalId: name.externalId } : undefined;
}

/** Members that the intents of all requests share. */
export function intentOf({ written }: WritableResource, request: FastifyRequest) {
  const { tenantId } = request;
  return { resource: written, tenantId, author: authorOf(request), mayRevive: true, mayWait: false };
}

/** Reads the claim of a change. The same key with another object is a conflict. */
export function claimOf(
  { definition }: WritableResource,
  request: FastifyRequest,
  { bytes }: JsonBody,
  name: ObjectName | undefined,
): Claim | undefined {
  const path = `${request.method} ${definition.collection} ${JSON.stringify(name)}`;
  return readClaim(request.headers['idempotency-key'], path, bytes);
}

/** Writes the object. A repeated request writes nothing, and gets the object as it is now. */
export async function writeOrReplay(
  { database, written, requests }: WritableResource,
  { tenantId, deadline }: FastifyRequest,
  reply: FastifyReply,
  intent: Intent,
): Promise<Written> {
  const outcome = await requests.write(intent, deadline);
  if (outcome.what !== 'repeated') return outcome;
  reply.header('Idempotency-Replayed', 'true');
  const values = [JSON.stringify([{ place: 0, tenant_id: tenantId, id: outcome.id }])];
  const { rows } = await database.queryInTenants<Pick<Written, 'id' | 'version' | 'json'>>(
    [tenantId],
    { ...written.read, values },
    { deadline },
  );
  if (!rows[0]?.id) throw new ApiError('not_found');
  return { ...outcome, ...rows[0] };
}

/** A dry run: writes the object, looks at it, and takes everything back. */
export async function tryOut(
  { database, writing, noteDryRun }: WritableResource,
  request: FastifyRequest,
  intent: Intent,
) {
  const { tenantId, deadline } = request;
  const work = async (client: pg.ClientBase) => {
    const outcome = (await writeObjects(client, writing, [intent])).get(intent)!;
    if (outcome instanceof ApiError) throw outcome;
    return { outcome, notes: await noteDryRun(client, request, outcome.id) };
  };
  return retryRaces(() => database.inTenants([tenantId], work, { isDryRun: true, deadline }));
}

/** Sets the headers for the object's version and for whether the request, or the first one with its key, changed anything. */
export function noteChange(reply: FastifyReply, { version, what }: Written): void {
  reply.code(what === 'created' ? 201 : 200);
  reply.header('ETag', etagOf(version));
  reply.header('Stamm-Changed', String(what !== 'unchanged'));
}
