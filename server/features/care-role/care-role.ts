// Limits of the role Pflege: plants' health and notes, but no prices and no private phone numbers.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseExactly } from '../../../core/exact-json.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { isObject } from '../../engine/definition/validation.ts';
import { ApiError } from '../../errors.ts';
import type { JsonBody } from '../../http/json-body.ts';

function isCarer({ session }: FastifyRequest): boolean {
  return session?.person.role === 'PFLEGE';
}

/** Removes the hidden members from answers of every office route, wherever they stand. */
export function addCareRoleRules(office: FastifyInstance, resources: readonly Definition[]): void {
  const hidden = new Set(resources.flatMap(({ hiddenFromCare }) => hiddenFromCare));
  const hiddenNumbers = resources
    .filter(({ searchedBy, hiddenFromCare }) =>
      searchedBy.phones.some((path) => hiddenFromCare.includes(path)),
    )
    .map(({ collection }) => `/${collection}`);

  const hiddenResources = resources.filter(({ isHiddenFromCare }) => isHiddenFromCare);

  const hiddenNames = new Set(hiddenResources.map(({ name }) => name));
  const hide = (json: string) => withoutMembers(json, hidden, hiddenNames);

  office.addHook('preHandler', async (request) => {
    if (!isCarer(request)) return;
    request.hideInRow = hide;
    refuseHiddenResources(request, hiddenResources);
    refuseHiddenQuestions(request, hidden);
    refuseHiddenNumbers(request, hiddenNumbers);
    const { careFields } = request.routeOptions.config;
    if (careFields && request.method === 'PATCH') demandCareFields(request.body as JsonBody, careFields);
  });

  office.addHook('onSend', async (request, reply, payload) => {
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload);
    if (!request.hideInRow || !isText) return payload;
    if (!String(reply.getHeader('content-type')).startsWith('application/json')) return payload;
    return hide(String(payload));
  });
}

/** Its own routes, and those that name it in a parameter. */
function refuseHiddenResources(
  { routeOptions, params }: FastifyRequest,
  hidden: readonly Definition[],
): void {
  const steps = (routeOptions.url ?? '').split(/[/.]/);
  const { resource } = (params ?? {}) as { resource?: unknown };
  const isHidden = hidden.some(
    ({ name, collection }) =>
      steps.includes(collection) || steps.at(-1) === name || [name, collection].includes(String(resource)),
  );
  if (isHidden) throw new ApiError('role_insufficient');
}

/** A filter or an order by a price would tell it, and so would a file. */
function refuseHiddenQuestions(request: FastifyRequest, hidden: ReadonlySet<string>): void {
  const query = Object.entries(request.query as Record<string, unknown>);
  const namesFields = ['sort', 'empty', 'filled', 'fields'];
  const names = query.flatMap(([name, value]) =>
    namesFields.includes(name) ? [name, String(value)] : [name],
  );
  const asksHidden = names.some((name) => [...hidden].some((field) => name.includes(field)));
  const isFile = /\.(csv|xlsx|ndjson)$/.test(request.routeOptions.url ?? '');
  if (asksHidden || isFile) throw new ApiError('role_insufficient');
}

/** Digits in a list's search would find people by a number that is hidden, and a + everybody who has one. */
function refuseHiddenNumbers({ query, routeOptions }: FastifyRequest, collections: readonly string[]): void {
  const { q = '' } = query as { q?: unknown };
  const isList = collections.some((path) => routeOptions.url?.endsWith(path));
  const searched = String(q).normalize('NFKC');
  const isNumber = searched.includes('+') || searched.replace(/\D/g, '').length > 2;
  if (isList && isNumber) throw new ApiError('role_insufficient');
}

function demandCareFields(body: JsonBody, careFields: readonly string[]): void {
  const isAllowed =
    isObject(body.value) && Object.keys(body.value).every((name) => careFields.includes(name));
  if (!isAllowed) throw new ApiError('role_insufficient');
}

/** Members of a journal entry that describe its object. */
const contents: ReadonlySet<string> = new Set(['externalId', 'changes', 'data']);

/** An entry about an object of a hidden resource stays, so a feed has no gaps, but says nothing about it. */
function withoutMembers(json: string, hidden: ReadonlySet<string>, hiddenNames: ReadonlySet<string>): string {
  // Most answers hold none of them, and reading them costs more than looking.
  if (![...hidden, ...hiddenNames].some((name) => json.includes(`"${name}"`))) return json;
  const hide = (name: string, value: unknown) => {
    if (hidden.has(name)) return undefined;
    if (!isObject(value) || !hiddenNames.has(String(value.resource))) return value;
    return Object.fromEntries(Object.entries(value).filter(([member]) => !contents.has(member)));
  };
  return JSON.stringify(parseExactly(json, hide));
}
