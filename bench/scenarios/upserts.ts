import { measureFreshFolder } from '../data/fresh-folder.ts';
import { creationPath, siteBody, tenantCount } from '../data/tenants.ts';
import { demandStatus, describeStatuses, type LoadReport, rateOf, runFullLoad } from '../load/load.ts';
import type { Request } from '../load/requests.ts';
import { countRows, settle } from '../postgres.ts';
import { type Contender, runRounds } from '../rounds.ts';
import { type Bench, barsOf, type Outcome, type Scenario } from '../scenario.ts';
import { type Prepared, prepareService, warmUp } from '../service.ts';
import { formatRateSpread, formatRatio, formatRatioSpread, ratiosOf, type Spread } from '../statistics.ts';

/** Objects that are changed, or stay unchanged, again and again. */
const objectCount = 4000;

/** More than any service here creates per second, so that a new object stays new. */
const mostPerSecond = 10_000;

type Kind =
  | 'created'
  | 'new'
  | 'changed'
  | 'patched by id'
  | 'patched by external id'
  | 'unchanged'
  | 'refused';

/** At least so much of the rate of creations in the same round. */
const goals = {
  new: 0.6,
  changed: 0.5,
  'patched by id': 0.5,
  'patched by external id': 0.5,
  unchanged: 1,
  refused: 0.8,
} as const;
const kinds = ['created', ...(Object.keys(goals) as (keyof typeof goals)[])] as const;
const groups = [4, 1] as const;

/** Journal entries that each answer stands for. */
const entriesPerAnswer = {
  created: 1,
  new: 1,
  changed: 1,
  'patched by id': 1,
  'patched by external id': 1,
  unchanged: 0,
  refused: 0,
} as const;

export const upserts: Scenario = {
  name: 'upserts',
  title: 'Creating and replacing by external id',
  async measure(bench) {
    const prepared = await prepareService(bench, 'upserts');
    const ids = await storeObjects(prepared);
    await warmUp(prepared, bench);
    const contenders = groups.flatMap((tenants) =>
      kinds.map((kind) => contender(bench, prepared, ids, kind, tenants)),
    );
    for (const { run } of contenders) await run();
    const rates = await runRounds(bench, contenders, () => settle(prepared.database));
    const warm = report(rates, bench.options.connections);
    const fresh = await measureFreshFolder(bench);
    return {
      ...warm,
      tables: [...warm.tables, fresh.table],
      goals: [...warm.goals, ...fresh.goals],
    };
  },
};

/** Number n belongs to tenant n modulo the number of all tenants, and so does its customer. */
function numberOf(index: number, tenants: number): number {
  return Math.floor(index / tenants) * tenantCount + (index % tenants);
}

function nameOf(kind: Kind, tenants: number): string {
  return `${kind}, ${tenants === 1 ? '1 tenant' : `${tenants} tenants`}`;
}

/** Changed and unchanged objects are different ones; rejected bodies name unchanged ones. */
function externalIdOf(kind: Kind, tenants: number, number: number): string {
  return `${kind === 'unchanged' || kind === 'refused' ? 'U' : 'C'}${tenants}-${number}`;
}

/** Answers the ids by external id. */
async function storeObjects({ service, tenants: { keys } }: Prepared): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const tenants of groups) {
    for (let tenant = 0; tenant < tenants; tenant++) {
      const numbers = Array.from({ length: objectCount }, (_, index) => numberOf(index, tenants));
      const lines = numbers
        .filter((number) => number % tenantCount === tenant)
        .flatMap((number) =>
          (['changed', 'unchanged'] as const).map((kind) => {
            const data = { ...siteBody(number), externalId: externalIdOf(kind, tenants, number) };
            return JSON.stringify({ type: 'site', data });
          }),
        );
      const answer = await fetch(`${service.origin}/api/v1/import`, {
        method: 'POST',
        headers: { ApiKey: keys[tenant]!, 'Content-Type': 'application/x-ndjson' },
        body: `${lines.join('\n')}\n`,
      });
      const results = (await answer.text()).trim().split('\n');
      const { summary } = JSON.parse(results.at(-1)!);
      if (summary?.created !== lines.length) throw new Error(`Storing objects: ${results.at(-1)}`);
      for (const result of results.slice(0, -1)) {
        const { externalId, id } = JSON.parse(result);
        ids.set(externalId, id);
      }
    }
  }
  return ids;
}

function contender(
  bench: Bench,
  prepared: Prepared,
  ids: ReadonlyMap<string, string>,
  kind: Kind,
  tenants: number,
): Contender {
  const { connections, seconds } = bench.options;
  let round = 0;
  return {
    name: nameOf(kind, tenants),
    async run() {
      const requests = requestsOf(prepared, ids, kind, tenants, ++round, seconds);
      const requestsFile = await prepared.writeRequests(`${kind.replaceAll(' ', '-')}-${tenants}`, requests);
      const before = await countRows(prepared.database);
      const answers = await runFullLoad({
        origin: prepared.service.origin,
        requestsFile,
        connections,
        seconds,
      });
      demandAnswers(kind, answers);
      const entries = (await countRows(prepared.database)).entries - before.entries;
      const expected = answers.answers * entriesPerAnswer[kind];
      // wrk ends without waiting for the last answer of each connection, also of the load before.
      if (entries < expected || entries > expected + connections)
        throw new Error(`${kind}: ${answers.answers} answers, but ${entries} journal entries.`);
      return rateOf(answers);
    },
  };
}

function demandAnswers(kind: Kind, report: LoadReport): void {
  if (kind === 'created' || kind === 'new') demandStatus(kind, report, 201);
  else if (kind !== 'refused') demandStatus(kind, report, 200);
  else {
    // wrk does not tell one refusal from another.
    const refused = report.statuses[409] ?? report.statuses['4xx and 5xx'] ?? 0;
    if (report.answers === 0 || refused !== report.answers || report.broken > 0)
      throw new Error(`Refused: ${describeStatuses(report)}`);
  }
}

function requestsOf(
  { tenants: { keys } }: Prepared,
  ids: ReadonlyMap<string, string>,
  kind: Kind,
  tenants: number,
  round: number,
  seconds: number,
): Request[] {
  const put = (number: number, externalId: string, more: object = {}): Request => ({
    method: 'PUT',
    path: `/api/v1/sites/by-external-id/${externalId}`,
    key: keys[number % tenantCount]!,
    body: { ...siteBody(number), ...more },
  });
  const patch = (number: number, path: string, comment: string): Request => ({
    method: 'PATCH',
    path: `/api/v1/sites/${path}`,
    key: keys[number % tenantCount]!,
    body: { comment },
  });
  // Each object in turn with either comment, so that none is sent as it is.
  const inTurns = (request: (number: number, externalId: string, comment: string) => Request) =>
    ['odd', 'even'].flatMap((turn) =>
      listOf(objectCount, (number) =>
        request(number, externalIdOf(kind, tenants, number), `${kind} ${round} ${turn}`),
      ),
    );
  const post = (number: number, more: object = {}): Request => ({
    method: 'POST',
    path: creationPath,
    key: keys[number % tenantCount]!,
    body: { ...siteBody(number), ...more },
  });
  const listOf = (count: number, request: (number: number) => Request) =>
    Array.from({ length: count }, (_, index) => request(numberOf(index, tenants)));
  switch (kind) {
    case 'created':
      return listOf(objectCount, (number) => post(number));
    case 'new':
      return listOf(seconds * mostPerSecond, (number) => put(number, `N${tenants}-${round}-${number}`));
    case 'changed':
      return inTurns((number, externalId, comment) => put(number, externalId, { comment }));
    case 'patched by id':
      return inTurns((number, externalId, comment) => patch(number, ids.get(externalId)!, comment));
    case 'patched by external id':
      return inTurns((number, externalId, comment) => patch(number, `by-external-id/${externalId}`, comment));
    case 'unchanged':
      return listOf(objectCount, (number) => put(number, externalIdOf(kind, tenants, number)));
    case 'refused':
      return listOf(objectCount, (number) =>
        post(number, { externalId: externalIdOf(kind, tenants, number) }),
      );
  }
}

function report(rates: Map<string, Spread>, connections: number): Outcome {
  const measured = groups.flatMap((tenants) =>
    kinds.map((kind) => {
      const rate = rates.get(nameOf(kind, tenants))!;
      return { kind, tenants, rate, ratio: ratiosOf(rate, rates.get(nameOf('created', tenants))!) };
    }),
  );
  return {
    tables: [
      {
        columns: [`Sites at ${connections} connections`, 'per second', 'in ratio to creations'],
        rows: measured.map(({ kind, tenants, rate, ratio }) => [
          nameOf(kind, tenants),
          formatRateSpread(rate),
          kind === 'created' ? '' : formatRatioSpread(ratio),
        ]),
      },
    ],
    charts: [{ title: `Upserts at ${connections} connections`, unit: '/s', bars: barsOf(rates) }],
    goals: measured.flatMap(({ kind, tenants, ratio }) =>
      kind === 'created'
        ? []
        : [
            {
              wanted: `${nameOf(kind, tenants)}: at least ${goals[kind]} of creations`,
              measured: formatRatio(ratio.median),
              isMet: ratio.median >= goals[kind],
            },
          ],
    ),
    notes: [
      'Created: POST without an external id. New, changed and unchanged: PUT by external id. Patched: PATCH of one field. Refused: POST with an external id that is taken.',
      'New, changed and patched objects have a journal entry per answer; unchanged and refused ones have none.',
    ],
    figures: {
      rates: Object.fromEntries(rates),
      ratios: Object.fromEntries(measured.map(({ kind, tenants, ratio }) => [nameOf(kind, tenants), ratio])),
    },
  };
}
