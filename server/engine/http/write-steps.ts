// Steps that the write routes of a resource share.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';
import { authorOf, etagOf } from '../../http/conventions.ts';
import { isStorableText } from '../../http/json-body.ts';
import type { Definition } from '../definition/definition.ts';
import { isUuid } from '../definition/formats.ts';
import { buildCheck, type Check } from '../definition/validation.ts';
import type { Intent, Written } from '../write/intent.ts';
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

/** How a path names an object. */
export type ObjectName = { id: string } | { externalId: string };

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

/** Sets the headers for the object's version and for whether the request changed anything. */
export function noteChange(reply: FastifyReply, { version, what }: Written): void {
  reply.code(what === 'created' ? 201 : 200);
  reply.header('ETag', etagOf(version));
  reply.header('Stamm-Changed', String(what !== 'unchanged'));
}
