// Routes that create, replace or merge an object by its external id.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { ApiError } from '../../errors.ts';
import {
  authorOf,
  demandVersion,
  isDryRun,
  nameIgnoredFields,
  readFlag,
  refuseUnknownParameters,
  sendJson,
} from '../../http/conventions.ts';
import { isStorableText, type JsonBody } from '../../http/json-body.ts';
import { type Definition, referencesOf } from '../definition/definition.ts';
import { isUuid } from '../definition/formats.ts';
import { type Checked, isObject, type Row } from '../definition/validation.ts';
import { findDeleted } from '../sql/bin-look-up.ts';
import { isExternalIdTaken } from '../sql/conflicts.ts';
import type { Creation } from '../sql/idempotency.ts';
import { newObjectId } from '../sql/object-id.ts';
import { RaceError } from '../sql/races.ts';
import type { Stored } from '../sql/rows.ts';
import type { Upsert } from '../sql/upsert-batches.ts';
import { mergeInto, underOwnName } from './merge-patch.ts';
import {
  answerDryRun,
  checkNew,
  findNamed,
  insertOne,
  inTransaction,
  merge,
  noteChange,
  type WritableResource,
} from './write-steps.ts';

interface NamedRoute {
  Params: { externalId: string };
  Body: JsonBody;
}

type NamedRequest = FastifyRequest<NamedRoute>;

export function addPutRoute(
  api: FastifyInstance,
  resource: WritableResource,
  path: string,
  schema: object,
): void {
  const { check, writes, replacement, upserts } = resource;
  api.put<NamedRoute>(path, { schema }, async (request, reply) => {
    refuseUnknownParameters(request, ['dryRun', 'revive']);
    const mayRevive = readFlag(request, 'revive', true);
    const { externalId } = request.params;
    const body = withExternalId(request.body, externalId);
    const { checked, row, ignoredFields } = await checkNew(resource, body, request, reply);
    const author = authorOf(request);
    const demand = (current: Stored | undefined) => demandVersion(request, current);
    const become = () => checked;
    const upsert = { row, creation: row, become, isMerge: false, mayRevive, author, demand };
    const upserted = isDryRun(request) ? undefined : await upserts.upsert(upsert, request.deadline);
    if (upserted) {
      noteChange(reply, upserted);
      return { id: upserted.id, version: upserted.version, changed: upserted.isChanged };
    }
    return inTransaction(resource, request, async (client) => {
      const current = await writes.find(client, request.tenantId, { externalId }, 'FOR NO KEY UPDATE');
      demandVersion(request, current);
      if (!current && !mayRevive) await demandNotDeleted(client, resource, request);
      const { id, version } = current
        ? await replacement.replace(
            client,
            current,
            check(underOwnName(body, current)),
            request.tenantId,
            author,
          )
        : await insertUpserted(client, resource, { row, author });
      if (isDryRun(request)) {
        const tried = { tenant_id: request.tenantId, id };
        const answered = await answerDryRun(client, resource, request, tried, ignoredFields);
        return { ...answered, ...(current && { id }) };
      }
      const isChanged = version !== current?.version;
      noteChange(reply, { version, isNew: !current, isChanged });
      return { id, version, changed: isChanged };
    });
  });
}

export function addMergeRoute(
  api: FastifyInstance,
  resource: WritableResource,
  path: string,
  schema: object,
): void {
  const pickNames = buildNamePicker(resource.definition);
  api.patch<NamedRoute>(path, { schema }, async (request, reply) => {
    refuseUnknownParameters(request, ['dryRun', 'create', 'revive']);
    const allowed = { create: readFlag(request, 'create', true), revive: readFlag(request, 'revive', true) };
    const body = withExternalId(request.body, request.params.externalId);
    const upsert = isDryRun(request)
      ? undefined
      : toUpsert(resource, pickNames, body, allowed, request, reply);
    const merged = upsert && (await resource.upserts.upsert(upsert, request.deadline));
    if (merged) {
      noteChange(reply, merged);
      return sendJson(reply, merged.json!);
    }
    const answered = await inTransaction(resource, request, (client) =>
      mergeAlone(client, resource, body, allowed, request, reply),
    );
    return typeof answered === 'string' ? sendJson(reply, answered) : answered;
  });
}

/** What a merge of an unknown external id may do: create an object, also one that is in the bin. */
interface Allowed {
  create: boolean;
  revive: boolean;
}

async function demandNotDeleted(
  client: pg.ClientBase,
  { definition }: WritableResource,
  { tenantId, params: { externalId } }: NamedRequest,
): Promise<void> {
  if (!isStorableText(externalId)) return;
  const [deleted] = await findDeleted(client, definition, [{ tenantId, externalId }]);
  if (deleted) throw deleted;
}

/** Answers the object as JSON text, or what a dry run found. */
async function mergeAlone(
  client: pg.ClientBase,
  resource: WritableResource,
  body: JsonBody,
  allowed: Allowed,
  request: NamedRequest,
  reply: FastifyReply,
) {
  const current = await findNamed(client, resource, request, 'FOR NO KEY UPDATE');
  if (!current && !allowed.create) throw new ApiError('not_found');
  demandVersion(request, current);
  if (!current && !allowed.revive) await demandNotDeleted(client, resource, request);
  if (current) {
    return (await merge(client, resource, current, underOwnName(body, current), request, reply)).json;
  }
  const created = mergeInto(resource.definition, undefined, body);
  const { row, ignoredFields } = await checkNew(resource, created, request, reply, (work) => work(client));
  const stored = await insertUpserted(client, resource, { row, author: authorOf(request) });
  if (isDryRun(request)) return answerDryRun(client, resource, request, row, ignoredFields);
  noteChange(reply, { version: stored.version, isNew: true, isChanged: true });
  return stored.json;
}

/** Undefined for a merge that needs its own transaction, to be written or to find its errors. */
function toUpsert(
  { definition, check, writes }: WritableResource,
  pickNames: PickNames,
  body: JsonBody,
  allowed: Allowed,
  request: NamedRequest,
  reply: FastifyReply,
): Upsert | undefined {
  const sent = check(mergeInto(definition, undefined, body));
  if (body.fieldErrors.length > 0 || !isObject(body.value) || writes.namesTwice(sent.row)) return undefined;
  const nameIgnored = (checked: Checked) => {
    nameIgnoredFields(reply, checked.ignoredFields);
    return checked;
  };
  const ids = { tenant_id: request.tenantId, id: newObjectId() };
  return {
    row: { ...pickNames(sent.row), ...ids },
    creation: sent.fieldErrors.length === 0 ? { ...nameIgnored(sent).row, ...ids } : undefined,
    become: (current) => nameIgnored(check(mergeInto(definition, current, body))),
    isMerge: true,
    mayRevive: allowed.revive,
    author: authorOf(request),
    demand(current) {
      if (!current && !allowed.create) throw new ApiError('not_found');
      demandVersion(request, current);
    },
  };
}

type PickNames = (row: Row) => Row;

/** The names in a row. An invalid one would fail the statement for everybody in it. */
function buildNamePicker(definition: Definition): PickNames {
  const references = referencesOf(definition);
  const texts = ['external_id', ...references.map(({ externalColumn }) => externalColumn)];
  const ids = references.map(({ column }) => column.name);
  return (row) =>
    Object.fromEntries(
      [
        ...texts.filter((name) => typeof row[name] === 'string'),
        ...ids.filter((name) => typeof row[name] === 'string' && isUuid(row[name])),
      ].map((name) => [name, row[name]]),
    );
}

/** Creates an object whose external id is unknown. */
async function insertUpserted(
  client: pg.ClientBase,
  resource: WritableResource,
  creation: Creation,
): Promise<Stored> {
  await insertOne(client, resource, creation).catch(lookAgainIfCreatedMeanwhile);
  const { tenant_id: tenantId, id } = creation.row;
  return (await resource.writes.find(client, tenantId, { id }))!;
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
