// Routes that create, change and delete the objects of a definition.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
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
  readFlag,
  refuseMisspeltDryRun,
  refuseUnknownParameters,
  sendJson,
} from '../../http/conventions.ts';
import { isStorableText, type JsonBody } from '../../http/json-body.ts';
import { type Definition, referencesOf } from '../definition/definition.ts';
import { isUuid } from '../definition/formats.ts';
import { buildCheck, type Checked, isObject, type Row } from '../definition/validation.ts';
import { writeDocs } from '../openapi/routes.ts';
import { type AttentionCheck, findAttentionOf } from '../sql/attention-checks.ts';
import { buildCreationBatches, createClaimed } from '../sql/creation-batches.ts';
import type { Creation } from '../sql/idempotency.ts';
import { readClaim } from '../sql/idempotency.ts';
import { newObjectId } from '../sql/object-id.ts';
import { buildReplacement } from '../sql/replacement.ts';
import {
  buildWrites,
  isExternalIdTaken,
  type NewRow,
  RaceError,
  retryRaces,
  type Stored,
} from '../sql/row-store.ts';
import { buildUpsertBatches, type Upsert, type Upserted } from '../sql/upsert-batches.ts';
import { mergeInto, underOwnName } from './merge-patch.ts';

export interface ResourceContext {
  database: Database;
  attentionChecks: readonly AttentionCheck[];
}

export function addWriteRoutes(
  api: FastifyInstance,
  definition: Definition,
  all: readonly Definition[],
  { database, attentionChecks }: ResourceContext,
): void {
  const docs = writeDocs(definition);
  const check = buildCheck(definition);
  const writes = buildWrites(definition, all);
  const replacement = buildReplacement(definition, check, writes);
  const { canResolveOwners, replace } = replacement;
  const queue = buildCreationBatches(database, writes);
  const upserts = buildUpsertBatches(database, definition, queue, writes, replacement);
  const references = referencesOf(definition);
  const byExternalId = `/${definition.collection}/by-external-id/:externalId`;

  api.post<{ Body: JsonBody }>(definition.path, { schema: docs.create }, async (request, reply) => {
    const { row, ignoredFields } = await checkNew(request.body, request, reply);
    const author = authorOf(request);
    const claim = readClaim(request.headers['idempotency-key'], definition.path, request.body.bytes);
    refuseMisspeltDryRun(request);
    if (isDryRun(request)) {
      return inTransaction(request, async (client) => {
        await insertOne(client, { row, author, claim });
        return answerDryRun(client, request, row, ignoredFields);
      });
    }
    const { id, isReplay } = await queue.create({ row, author, claim }, request.deadline);
    if (isReplay) reply.header('Idempotency-Replayed', 'true');
    reply.code(201);
    return { id };
  });

  api.put<{ Params: { externalId: string }; Body: JsonBody }>(
    byExternalId,
    { schema: docs.upsert },
    async (request, reply) => {
      refuseUnknownParameters(request, ['dryRun']);
      const { externalId } = request.params;
      const body = withExternalId(request.body, externalId);
      const { checked, row, ignoredFields } = await checkNew(body, request, reply);
      const author = authorOf(request);
      const demand = (current: Stored | undefined) => demandVersion(request, current);
      const become = () => checked;
      const upsert = { row, creation: row, become, isMerge: false, author, demand };
      const upserted = isDryRun(request) ? undefined : await upserts.upsert(upsert, request.deadline);
      if (upserted) {
        noteChange(reply, upserted);
        return { id: upserted.id, version: upserted.version, changed: upserted.isChanged };
      }
      return inTransaction(request, async (client) => {
        const current = await writes.find(client, request.tenantId, { externalId }, 'FOR NO KEY UPDATE');
        demandVersion(request, current);
        const stored = current
          ? await replace(client, current, check(underOwnName(body, current)), request.tenantId, author)
          : await insertUpserted(client, { row, author });
        const { id, version } = stored;
        if (isDryRun(request)) {
          const tried = { tenant_id: request.tenantId, id };
          return { ...(await answerDryRun(client, request, tried, ignoredFields)), ...(current && { id }) };
        }
        const isChanged = version !== current?.version;
        noteChange(reply, { version, isNew: !current, isChanged });
        return { id, version, changed: isChanged };
      });
    },
  );

  api.patch<{ Params: { id: string }; Body: JsonBody }>(
    `/${definition.collection}/:id`,
    { schema: docs.patch, config: { careFields: definition.careFields } },
    async (request, reply) => {
      refuseUnknownParameters(request, ['dryRun']);
      const patched = await inTransaction(request, async (client) => {
        const current = await findForChange(client, request, 'FOR NO KEY UPDATE');
        return merge(client, current, request.body, request, reply);
      });
      return sendJson(reply, patched.json);
    },
  );

  api.patch<{ Params: { externalId: string }; Body: JsonBody }>(
    byExternalId,
    { schema: docs.merge },
    async (request, reply) => {
      refuseUnknownParameters(request, ['dryRun', 'create']);
      const mayCreate = readFlag(request, 'create', true);
      const body = withExternalId(request.body, request.params.externalId);
      const merged = isDryRun(request) ? undefined : await mergeTogether(body, mayCreate, request, reply);
      if (merged) {
        noteChange(reply, merged);
        return sendJson(reply, merged.json!);
      }
      const answered = await inTransaction(request, async (client) => {
        const current = await findNamed(client, request, 'FOR NO KEY UPDATE');
        if (!current && !mayCreate) throw new ApiError('not_found');
        demandVersion(request, current);
        if (current) return (await merge(client, current, underOwnName(body, current), request, reply)).json;
        const created = mergeInto(definition, undefined, body);
        const { row, ignoredFields } = await checkNew(created, request, reply, (work) => work(client));
        const stored = await insertUpserted(client, { row, author: authorOf(request) });
        if (isDryRun(request)) return answerDryRun(client, request, row, ignoredFields);
        noteChange(reply, { version: stored.version, isNew: true, isChanged: true });
        return stored.json;
      });
      return typeof answered === 'string' ? sendJson(reply, answered) : answered;
    },
  );

  for (const path of [`/${definition.collection}/:id`, byExternalId]) {
    api.delete<{ Params: ObjectName }>(
      path,
      { schema: path === byExternalId ? docs.deleteByExternalId : docs.delete },
      async (request, reply) => {
        refuseUnknownParameters(request, ['dryRun', 'cascade']);
        const isCascade = readFlag(request, 'cascade', false);
        const deleted = await inTransaction(request, async (client) => {
          const { id, isFormerName } = await findForChange(client, request, 'FOR UPDATE');
          if (isFormerName) throw new ApiError('merged_object', { details: { id } });
          return writes.deleteRow(client, request.tenantId, id, authorOf(request), isCascade);
        });
        if (isCascade) return { deleted };
        reply.code(204);
      },
    );
  }

  /** The row of a new object. Throws one error that names every invalid field and missing owner. */
  async function checkNew(
    body: JsonBody,
    request: FastifyRequest,
    reply: FastifyReply,
    run: RunInTransaction = (work) => inTransaction(request, work),
  ) {
    const checked = check(body);
    const { fieldErrors, ignoredFields, row: checkedRow } = checked;
    nameIgnoredFields(reply, ignoredFields);
    const row: NewRow = { ...checkedRow, tenant_id: request.tenantId, id: newObjectId() };
    if (fieldErrors.length > 0) {
      const found = canResolveOwners(fieldErrors)
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

  async function insertOne(client: pg.ClientBase, creation: Creation): Promise<void> {
    const [outcome] = await createClaimed(client, writes, [creation]);
    if (outcome instanceof ApiError) throw outcome;
  }

  /** Creates an object whose external id is unknown. */
  async function insertUpserted(client: pg.ClientBase, creation: Creation): Promise<Stored> {
    await insertOne(client, creation).catch(lookAgainIfCreatedMeanwhile);
    const { tenant_id: tenantId, id } = creation.row;
    return (await writes.find(client, tenantId, { id }))!;
  }

  async function merge(
    client: pg.ClientBase,
    current: Stored,
    patch: JsonBody,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Stored> {
    const merged = check(mergeInto(definition, current, patch));
    nameIgnoredFields(reply, merged.ignoredFields);
    const stored = await replace(client, current, merged, request.tenantId, authorOf(request));
    const isChanged = stored.version !== current.version;
    if (!isDryRun(request)) noteChange(reply, { version: stored.version, isNew: false, isChanged });
    return stored;
  }

  /** Undefined for a merge that needs a transaction of its own, to be written or to learn what is wrong with it. */
  async function mergeTogether(
    body: JsonBody,
    mayCreate: boolean,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Upserted | undefined> {
    const sent = check(mergeInto(definition, undefined, body));
    if (body.fieldErrors.length > 0 || !isObject(body.value) || writes.namesTwice(sent.row)) return undefined;
    const checkWhole = (checked: Checked) => {
      nameIgnoredFields(reply, checked.ignoredFields);
      return checked;
    };
    const ids = { tenant_id: request.tenantId, id: newObjectId() };
    const upsert: Upsert = {
      row: { ...pickNames(sent.row), ...ids },
      creation: sent.fieldErrors.length === 0 ? { ...checkWhole(sent).row, ...ids } : undefined,
      become: (current) => checkWhole(check(mergeInto(definition, current, body))),
      isMerge: true,
      author: authorOf(request),
      demand(current) {
        if (!current && !mayCreate) throw new ApiError('not_found');
        demandVersion(request, current);
      },
    };
    return upserts.upsert(upsert, request.deadline);
  }

  /** An invalid one would fail the statement for everybody in it. */
  function pickNames(row: Row): Row {
    const texts = ['external_id', ...references.map(({ externalColumn }) => externalColumn)];
    const ids = references.map(({ column }) => column.name);
    return Object.fromEntries(
      [
        ...texts.filter((name) => typeof row[name] === 'string'),
        ...ids.filter((name) => typeof row[name] === 'string' && isUuid(row[name])),
      ].map((name) => [name, row[name]]),
    );
  }

  /** The answer to a dry run of a creation or replacement. */
  async function answerDryRun(
    client: pg.ClientBase,
    request: FastifyRequest,
    row: { tenant_id: string; id: string },
    ignoredFields: readonly string[],
  ) {
    const attention = await findAttentionOf(client, attentionChecks, row, languageOf(request));
    return { dryRun: true, attention, ignoredFields };
  }

  async function findForChange(
    client: pg.ClientBase,
    request: FastifyRequest<{ Params: ObjectName }>,
    lock: 'FOR UPDATE' | 'FOR NO KEY UPDATE',
  ): Promise<Stored> {
    const current = await findNamed(client, request, lock);
    if (!current) throw new ApiError('not_found');
    demandVersion(request, current);
    return current;
  }

  async function findNamed(
    client: pg.ClientBase,
    { params, tenantId }: FastifyRequest<{ Params: ObjectName }>,
    lock: 'FOR UPDATE' | 'FOR NO KEY UPDATE',
  ): Promise<Stored | undefined> {
    return canBeStored(params) ? writes.find(client, tenantId, params, lock) : undefined;
  }

  async function inTransaction<Result>(
    request: FastifyRequest,
    work: (client: pg.ClientBase) => Promise<Result>,
  ): Promise<Result> {
    const options = { isDryRun: isDryRun(request), deadline: request.deadline };
    return retryRaces(() => database.inTenants([request.tenantId], work, options));
  }
}

/** How a path names an object. */
export type ObjectName = { id: string } | { externalId: string };

function canBeStored(name: ObjectName): boolean {
  return 'id' in name ? isUuid(name.id) : isStorableText(name.externalId);
}

type RunInTransaction = <Result>(work: (client: pg.ClientBase) => Promise<Result>) => Promise<Result>;

/** Sets the headers for the object's version and for whether the request changed anything. */
function noteChange(
  reply: FastifyReply,
  { version, isNew, isChanged }: { version: number; isNew: boolean; isChanged: boolean },
): void {
  reply.code(isNew ? 201 : 200);
  reply.header('ETag', etagOf(version));
  reply.header('Stamm-Changed', String(isChanged));
}

/** The path names the object; a body that names another one is a mistake. */
function withExternalId(body: JsonBody, externalId: string): JsonBody {
  if (!isObject(body.value)) return body;
  const isOther = Object.hasOwn(body.value, 'externalId') && body.value.externalId !== externalId;
  const fieldErrors = [...body.fieldErrors];
  if (isOther) fieldErrors.push({ path: ['externalId'], code: 'differs_from_path' });
  if (!isStorableText(externalId)) fieldErrors.push({ path: ['externalId'], code: 'invalid_text' });
  return { ...body, value: { ...body.value, externalId }, fieldErrors };
}

/** Another request has just created the missing object: replace it instead. */
function lookAgainIfCreatedMeanwhile(error: unknown): never {
  throw isExternalIdTaken(error) ? new RaceError('The object was created meanwhile.') : error;
}
