// Routes that change an object: PUT by external id, PATCH by either id.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../errors.ts';
import {
  demandVersion,
  isDryRun,
  nameIgnoredFields,
  readFlag,
  refuseUnknownParameters,
  sendJson,
} from '../../http/conventions.ts';
import { isStorableText, type JsonBody } from '../../http/json-body.ts';
import { isObject } from '../definition/validation.ts';
import type { Intent, ObjectName } from '../write/intent.ts';
import { mergeInto, underOwnName } from '../write/merge-patch.ts';
import {
  claimOf,
  intentOf,
  noteChange,
  objectNameOf,
  tryOut,
  type WritableResource,
  writeOrReplay,
} from './write-steps.ts';

interface NamedRoute {
  Params: { externalId: string };
  Body: JsonBody;
}

export function addPutRoute(
  api: FastifyInstance,
  resource: WritableResource,
  path: string,
  schema: object,
): void {
  const { check } = resource;
  api.put<NamedRoute>(path, { schema }, async (request, reply) => {
    refuseUnknownParameters(request, ['dryRun', 'revive']);
    const mayRevive = readFlag(request, 'revive', true);
    const { externalId } = request.params;
    const body = withExternalId(request.body, externalId);
    const checked = check(body);
    nameIgnoredFields(reply, checked.ignoredFields);
    const common = { ...intentOf(resource, request), sent: checked.row };
    // An invalid body is rejected first, also where the stored object is newer.
    const intent: Intent =
      checked.fieldErrors.length > 0
        ? { ...common, name: undefined, decide: () => checked }
        : {
            ...common,
            name: { externalId },
            whole: checked,
            mayRevive,
            demand: (current) => demandVersion(request, current),
            decide: (current) => (current?.isFormerName ? check(underOwnName(body, current)) : checked),
          };
    const claim = intent.name && claimOf(resource, request, body, intent.name);
    if (isDryRun(request)) {
      const { outcome, notes } = await tryOut(resource, request, intent);
      const { ignoredFields } = checked;
      const { id, version, what } = outcome;
      const replaced = what !== 'created' && { id, version, changed: what !== 'unchanged' };
      return { ...notes, ignoredFields, ...replaced };
    }
    const written = await writeOrReplay(resource, request, reply, { ...intent, claim });
    noteChange(reply, written);
    return { id: written.id, version: written.version, changed: written.what !== 'unchanged' };
  });
}

export function addPatchRoute(
  api: FastifyInstance,
  resource: WritableResource,
  path: string,
  schema: object,
): void {
  const { careFields } = resource.definition;
  const route = { schema, config: { careFields } };
  api.patch<{ Params: { id: string }; Body: JsonBody }>(path, route, (request, reply) => {
    refuseUnknownParameters(request, ['dryRun']);
    const name = objectNameOf(request.params);
    return patch(resource, request, reply, { name, body: request.body, mayCreate: false, mayRevive: true });
  });
}

export function addMergeRoute(
  api: FastifyInstance,
  resource: WritableResource,
  path: string,
  schema: object,
): void {
  api.patch<NamedRoute>(path, { schema }, (request, reply) => {
    refuseUnknownParameters(request, ['dryRun', 'create', 'revive']);
    const mayCreate = readFlag(request, 'create', true);
    const mayRevive = readFlag(request, 'revive', true);
    const { externalId } = request.params;
    const name = objectNameOf({ externalId });
    const body = withExternalId(request.body, externalId);
    return patch(resource, request, reply, { name, body, mayCreate, mayRevive });
  });
}

interface Patch {
  name: ObjectName | undefined;
  body: JsonBody;
  mayCreate: boolean;
  mayRevive: boolean;
}

async function patch(
  resource: WritableResource,
  request: FastifyRequest,
  reply: FastifyReply,
  { name, body, mayCreate, mayRevive }: Patch,
): Promise<FastifyReply | object> {
  const { definition, check } = resource;
  let ignoredFields: readonly string[] = [];
  const intent: Intent = {
    ...intentOf(resource, request),
    name,
    sent: check(mergeInto(definition, undefined, body)).row,
    mayRevive,
    wantsObject: true,
    demand(current) {
      if (!current && !mayCreate) throw new ApiError('not_found');
      demandVersion(request, current);
    },
    decide(current) {
      const isByExternalId = name && 'externalId' in name;
      const sent = current && isByExternalId ? underOwnName(body, current) : body;
      const checked = check(mergeInto(definition, current, sent));
      ignoredFields = checked.ignoredFields;
      nameIgnoredFields(reply, ignoredFields);
      return checked;
    },
  };
  const claim = claimOf(resource, request, body, name);
  if (isDryRun(request)) {
    const { outcome, notes } = await tryOut(resource, request, intent);
    const found = { ...notes, ignoredFields };
    if (outcome.what === 'created') return found;
    // Join the texts: parsing would round exact decimals.
    return sendJson(reply, `${outcome.json!.slice(0, -1)},${JSON.stringify(found).slice(1)}`);
  }
  const written = await writeOrReplay(resource, request, reply, { ...intent, claim });
  noteChange(reply, written);
  return sendJson(reply, written.json!);
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
