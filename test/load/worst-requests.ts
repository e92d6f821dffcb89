// For each route the most expensive requests that it accepts. A new route must be named here, or the walk fails.
import { randomUUID } from 'node:crypto';
import type { Definition } from '../../server/engine/definition/definition.ts';
import { inclusionsOf, maxFields } from '../../server/engine/read/object-form.ts';
import { resources } from '../../server/resources/index.ts';
import type { Method } from '../helpers/office.ts';
import { largestSize, linesOf, shareOf, toNdjson, type World, worstBody } from './stored-worlds.ts';

export interface Route {
  method: Method;
  path: string;
}

export interface WorstRequest {
  /** Below /api/v1 or /app, with its query. */
  path: string;
  body?: unknown;
  /** Lines instead of JSON. */
  lines?: string;
}

type Worst = (world: World) => WorstRequest[];

/** The longest accepted search has 19 short words. */
const wordsOf = ({ size }: World) =>
  encodeURIComponent('ab cd ef gh '.repeat((16 * size) / largestSize / 4).trim());

const year = 'from=2026-01-01&until=2026-01-31';
const aWeek = 'from=2026-11-16&until=2026-11-20';

const everyInclusion = (definitions: readonly Definition[]) =>
  [...new Set(definitions.flatMap(inclusionsOf))].join();

const withoutEmployee = { resource: 'site', field: 'assignedEmployeeId', code: 'no_employee' };

/** By the path without its prefix. */
const features: Record<string, Worst> = {
  'GET /changes': () => [
    { path: '/changes?limit=1000&include=data' },
    { path: '/changes?limit=1000&include=externalIds' },
    { path: `/changes?limit=1000&include=${everyInclusion(resources)}` },
    { path: `/changes?limit=1000&fields=${Array(maxFields).fill('address.city')}` },
  ],
  'GET /deleted': (world) => [
    { path: `/deleted?limit=200&q=${wordsOf(world)}` },
    { path: '/deleted?limit=200&resource=site' },
  ],
  'GET /search': (world) => [{ path: `/search?q=${wordsOf(world)}` }],
  'GET /attention': () => [{ path: '/attention?limit=500&count=true' }],
  'GET /visits': ({ ids }) => [
    { path: `/visits?${aWeek}&limit=500&include=site,customer,employee,contactPerson,externalIds` },
    { path: `/visits?${year}&siteId=${ids.site}&limit=500` },
  ],
  'GET /visit-sums': () => [
    { path: `/visit-sums?${aWeek}` },
    { path: '/visit-sums?from=2026-11-01&until=2027-01-31' },
  ],
  'GET /personal-data/:id': ({ ids }) => [
    { path: `/personal-data/${ids.employee}` },
    { path: `/personal-data/${ids.customer}` },
  ],
  'DELETE /personal-data/:id': ({ ids }) => [
    { path: `/personal-data/${ids.employee}?dryRun=true&text=${'a'.repeat(100)}` },
  ],
  'POST /import': (world) => [{ path: '/import?dryRun=true', lines: toNdjson(linesOf(world)) }],
  'POST /appointments/:id/mail': ({ ids }) => [{ path: `/appointments/${ids.appointment}/mail` }],
  'GET /history': () => [{ path: '/history?limit=200' }],
  'GET /history/:resource/:id': ({ ids }) => [{ path: `/history/customer/${ids.customer}?limit=200` }],
  'GET /attention/counts': () => [{ path: '/attention/counts' }],
  'GET /attention/left': () => [{ path: '/attention/left' }],
  'POST /attention/left/all': () => [{ path: '/attention/left/all', body: withoutEmployee }],
  'POST /attention/reopened/all': () => [
    { path: '/attention/reopened/all', body: { ...withoutEmployee, since: '2026-01-01T00:00:00Z' } },
  ],
  'GET /attention/overview': () => [{ path: '/attention/overview' }],
  'GET /map': () => [{ path: '/map?west=-180&south=-90&east=180&north=90&zoom=18' }],
  'GET /map/tiles/:version/:z/:x/:y': () => [{ path: '/map/tiles/1/99999999/0/0' }],
  'GET /map/proposals': () => [{ path: '/map/proposals' }],
  'GET /calendar-feeds/:resource/:id': ({ ids }) => [{ path: `/calendar-feeds/employee/${ids.employee}` }],
  'GET /calendar/:tenantId/:file': ({ calendar }) => [{ path: calendar.replace(/^\/app/, '') }],
  'GET /audit': () => [{ path: '/audit' }],
  'GET /audit.csv': () => [{ path: '/audit.csv' }],
  'GET /backups': () => [{ path: '/backups' }],
  'GET /checklist': () => [{ path: '/checklist' }],
  'GET /counts': () => [{ path: '/counts' }],
  'GET /recent-actions': () => [{ path: '/recent-actions' }],
  'GET /imports/:id/kept': ({ importId }) => [{ path: `/imports/${importId}/kept` }],
  'POST /name-matches': (world) => [
    {
      path: '/name-matches',
      body: { resource: 'customer', names: Array(shareOf(world, 200)).fill('ab cd ef gh '.repeat(8)) },
    },
  ],
  'POST /duplicate-matches': (world) => [
    {
      path: '/duplicate-matches',
      body: {
        resource: 'customer',
        rows: Array.from({ length: shareOf(world, 100) }, (_, row) => ({
          row,
          name: 'ab cd ef gh'.repeat(8),
          zipCode: '20095',
          email: 'a@b.de',
          phone: '+49 40 123456',
        })),
      },
    },
  ],
};

function ofResource({ collection, path, name }: Definition): Record<string, Worst> {
  const of = ({ ids }: World) => `/${collection}/${ids[name]}`;
  const byName = `/${collection}/by-external-id`;
  const definition = resources.find((one) => one.name === name)!;
  const body = (world: World, externalId: string = randomUUID()) => worstBody(definition, world, externalId);
  const listed = (form = '') => `/${collection}${form}`;
  return {
    [`GET ${listed()}`]: (world) => [
      { path: `${listed()}?limit=500&count=true&include=${everyInclusion([definition])}&sort=-name` },
      { path: `${listed()}?limit=500&fields=${Array(maxFields).fill(definition.nameField)}` },
      { path: `${listed()}?limit=500&count=true&q=${wordsOf(world)}` },
    ],
    [`GET ${listed('.csv')}`]: () => [{ path: `${listed('.csv')}?include=externalIds` }],
    [`GET ${listed('.ndjson')}`]: () => [{ path: `${listed('.ndjson')}?include=externalIds` }],
    [`GET ${listed('.xlsx')}`]: () => [{ path: listed('.xlsx') }],
    [`GET /tables${listed('.csv')}`]: () => [{ path: `/tables${listed('.csv')}` }],
    [`GET /named${listed()}`]: ({ ids }) => [{ path: `/named${listed()}?ids=${Array(100).fill(ids[name])}` }],
    [`GET ${listed('/:id')}`]: (world) => [
      { path: of(world) },
      { path: `${of(world)}?include=${everyInclusion([definition])}` },
    ],
    [`PATCH ${listed('/:id')}`]: (world) => [{ path: of(world), body: body(world, 'largest') }],
    [`DELETE ${listed('/:id')}`]: (world) => [{ path: `${of(world)}?cascade=true&dryRun=true` }],
    [`POST ${listed('/:id/merge')}`]: (world) => [
      {
        path: `${of(world)}/merge?dryRun=true`,
        body: { ids: Array.from({ length: 20 }, () => randomUUID()) },
      },
    ],
    [`POST ${listed('/:id/restore')}`]: ({ ids }) => [
      { path: `/${collection}/${ids.deleted}/restore?dryRun=true` },
    ],
    [`GET ${byName}/:externalId`]: () => [
      { path: `${byName}/largest` },
      { path: `${byName}/largest?include=${everyInclusion([definition])}` },
    ],
    [`PUT ${byName}/:externalId`]: (world) => [
      { path: `${byName}/largest`, body: body(world, 'largest') },
      { path: `${byName}/largest?dryRun=true`, body: body(world, 'largest') },
    ],
    [`PATCH ${byName}/:externalId`]: (world) => [{ path: `${byName}/largest`, body: body(world, 'largest') }],
    [`DELETE ${byName}/:externalId`]: () => [{ path: `${byName}/largest?cascade=true&dryRun=true` }],
    [`POST ${path}`]: (world) => [
      { path, body: body(world) },
      { path: `${path}?dryRun=true`, body: body(world) },
    ],
  };
}

const worst: ReadonlyMap<string, Worst> = new Map(
  [features, ...resources.map(ofResource)].flatMap((cases) => Object.entries(cases)),
);

/**
 * Routes that work on one row, on settings, or on as many rows as a person makes by hand. Their worst input is a body of the
 * largest size.
 */
const small = [
  /^GET \/(definitions|state|session|sessions|people|invitations|business|key|passkeys|passkey-requirement|profile|views|visit-settings|webhooks|test-business)$/,
  /^GET \/(setup|invitation|reset)\/:token$/,
  /^GET \/map\/(settings|approximate-position|positions)$/,
  /^GET \/(audit\/events|requests|requests\/:id|requests\/groups|requests\/hours|webhooks\/:id|webhooks\/:id\/deliveries)$/,
  /^(POST|PUT|PATCH|DELETE) \/(session|sessions|setup|invitation|reset|password|password-reset|profile|passkeys|proof)(\/.*)?$/,
  /^(POST|PUT|PATCH|DELETE) \/(recovery-codes|passkey-requirement|people|invitations|business|key|views|visit-settings)(\/.*)?$/,
  /^(POST|PUT|PATCH|DELETE) \/(webhooks|calendar-feeds|checklist|remembered-(choices|names)|test-business)(\/.*)?$/,
  /^POST \/(attention\/(left|reopened)|choice-matches|imports|requests\/:id\/correction|map\/.*)$/,
  /^PUT \/map\/.*$/,
  // Undoes for as long as a request may take, and goes on with the next one.
  /^POST \/imports\/:id\/undo$/,
];

/** Work in one turn beyond the usual bound, which does not grow with the data. */
const longTurns: Record<string, number> = {
  // A chunk of 500 lines is checked together.
  'POST /import': 10,
  // Its library writes a calendar as a whole.
  'GET /calendar/:tenantId/:file': 5,
  'GET /calendar-feeds/:resource/:id': 5,
};

export function turnFactor(name: string): number {
  return longTurns[name] ?? 1;
}

/** They end what the walk needs, so they come last. */
const endings = [
  'POST /test-business/enter',
  'POST /key',
  'DELETE /key',
  'DELETE /sessions',
  'DELETE /session',
];

export function isLast(name: string): boolean {
  return endings.includes(name);
}

/** Undefined for a route that nobody has thought about. */
export function worstRequests(name: string, world: World): WorstRequest[] | undefined {
  const cases = worst.get(name);
  if (cases) return cases(world);
  if (!small.some((pattern) => pattern.test(name))) return undefined;
  const [method, path = ''] = name.split(' ');
  const filled = path.replace(/:\w+/g, randomUUID());
  return [
    method === 'GET' || method === 'DELETE'
      ? { path: filled }
      : { path: filled, body: { padding: 'x'.repeat(300 * world.size) } },
  ];
}
