// Steps that the write routes of a resource share.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { ApiError, validationError } from '../../errors.ts';
import {
  authorOf,
  demandVersion,
  etagOf,
  isDryRun,
  languageOf,
  nameIgnoredFields,
} from '../../http/conventions.ts';
import { isStorableText, type JsonBody } from '../../http/json-body.ts';
import type { Definition } from '../definition/definition.ts';
import { isUuid } from '../definition/formats.ts';
import { buildCheck, type Check } from '../definition/validation.ts';
import { type AttentionCheck, attentionChecksOf } from '../sql/attention-checks.ts';
import { findAttentionOf } from '../sql/attention-findings.ts';
import { buildCreationBatches, type CreationBatches, createClaimed } from '../sql/creation-batches.ts';
import type { Creation } from '../sql/idempotency.ts';
import { newObjectId } from '../sql/object-id.ts';
import { retryRaces } from '../sql/races.ts';
import { buildReplacement, type Replacement } from '../sql/replacement.ts';
import { buildWrites, type Writes } from '../sql/row-store.ts';
import type { NewRow, Stored } from '../sql/rows.ts';
import { buildUpsertBatches, type UpsertBatches } from '../sql/upsert-batches.ts';
import { buildRequestWrites, type RequestWrites } from '../write/requests.ts';
import { prepareWriting, type WrittenResource } from '../write/resource.ts';
import { mergeInto } from './merge-patch.ts';

/** A resource with everything that writes it. */
export interface WritableResource {
  definition: Definition;
  database: Database;
  check: Check;
  writes: Writes;
  replacement: Replacement;
  creations: CreationBatches;
  upserts: UpsertBatches;
  attentionChecks: readonly AttentionCheck[];
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
  const writes = buildWrites(definition, all);
  const replacement = buildReplacement(definition, check, writes);
  const creations = buildCreationBatches(database, definition, writes);
  const writing = prepareWriting(all);
  return {
    definition,
    database,
    check,
    writes,
    replacement,
    creations,
    upserts: buildUpsertBatches(database, definition, creations, writes, replacement),
    attentionChecks: attentionChecksOf(definition),
    written: writing.resources.find((one) => one.definition === definition)!,
    requests: buildRequestWrites(database, writing),
  };
}

/** The row of a new object. Throws one error that names every invalid field and missing owner. */
export async function checkNew(
  resource: WritableResource,
  body: JsonBody,
  request: FastifyRequest,
  reply: FastifyReply,
  run: RunInTransaction = (work) => inTransaction(resource, request, work),
) {
  const { check, writes, replacement } = resource;
  const checked = check(body);
  const { fieldErrors, ignoredFields, row: checkedRow } = checked;
  nameIgnoredFields(reply, ignoredFields);
  const row: NewRow = { ...checkedRow, tenant_id: request.tenantId, id: newObjectId() };
  if (fieldErrors.length > 0) {
    const found = replacement.canResolveOwners(fieldErrors)
      ? await run((client) => writes.resolveReferences(client, row))
      : [];
    throw validationError([...fieldErrors, ...found]);
  }
  if (writes.namesTwice(row)) {
    const found = await run((client) => writes.resolveReferences(client, row));
    if (found.length > 0) throw validationError(found);
  }
  return { checked, row, ignoredFields };
}

type RunInTransaction = <Result>(work: (client: pg.ClientBase) => Promise<Result>) => Promise<Result>;

export async function insertOne(
  client: pg.ClientBase,
  { writes }: WritableResource,
  creation: Creation,
): Promise<void> {
  const [outcome] = await createClaimed(client, writes, [creation]);
  if (outcome instanceof ApiError) throw outcome;
}

export async function merge(
  client: pg.ClientBase,
  resource: WritableResource,
  current: Stored,
  patch: JsonBody,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Stored> {
  const { definition, check, replacement } = resource;
  const merged = check(mergeInto(definition, current, patch));
  nameIgnoredFields(reply, merged.ignoredFields);
  const stored = await replacement.replace(client, current, merged, request.tenantId, authorOf(request));
  const isChanged = stored.version !== current.version;
  if (isDryRun(request)) {
    const tried = { tenant_id: request.tenantId, id: stored.id };
    const answered = await answerDryRun(client, resource, request, tried, merged.ignoredFields);
    // As text: parsing would round exact decimals.
    return { ...stored, json: `${stored.json.slice(0, -1)},${JSON.stringify(answered).slice(1)}` };
  }
  noteChange(reply, { version: stored.version, isNew: false, isChanged });
  return stored;
}

/** What every dry run of a write answers, beside what the write itself would. */
export async function answerDryRun(
  client: pg.ClientBase,
  { attentionChecks }: WritableResource,
  request: FastifyRequest,
  row: { tenant_id: string; id: string },
  ignoredFields: readonly string[],
) {
  const attention = await findAttentionOf(client, attentionChecks, row, languageOf(request), request.log);
  return { dryRun: true, attention, ignoredFields };
}

type Lock = 'FOR UPDATE' | 'FOR NO KEY UPDATE';

export async function findForChange(
  client: pg.ClientBase,
  resource: WritableResource,
  request: FastifyRequest<{ Params: ObjectName }>,
  lock: Lock,
): Promise<Stored> {
  const current = await findNamed(client, resource, request, lock);
  if (!current) throw new ApiError('not_found');
  demandVersion(request, current);
  return current;
}

export async function findNamed(
  client: pg.ClientBase,
  { writes }: WritableResource,
  { params, tenantId }: FastifyRequest<{ Params: ObjectName }>,
  lock: Lock,
): Promise<Stored | undefined> {
  return canBeStored(params) ? writes.find(client, tenantId, params, lock) : undefined;
}

export async function inTransaction<Result>(
  { database, definition: { table } }: WritableResource,
  request: FastifyRequest,
  work: (client: pg.ClientBase) => Promise<Result>,
): Promise<Result> {
  const options = { isDryRun: isDryRun(request), deadline: request.deadline };
  const result = await retryRaces(() => database.inTenants([request.tenantId], work, options));
  if (!options.isDryRun) void database.noteWritten({ [table]: 1 });
  return result;
}

/** How a path names an object. */
export type ObjectName = { id: string } | { externalId: string };

function canBeStored(name: ObjectName): boolean {
  return 'id' in name ? isUuid(name.id) : isStorableText(name.externalId);
}

/** Sets the headers for the object's version and for whether the request changed anything. */
export function noteChange(
  reply: FastifyReply,
  { version, isNew, isChanged }: { version: number; isNew: boolean; isChanged: boolean },
): void {
  reply.code(isNew ? 201 : 200);
  reply.header('ETag', etagOf(version));
  reply.header('Stamm-Changed', String(isChanged));
}
