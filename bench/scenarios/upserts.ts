import { demandStatus, describeStatuses, type LoadReport, rateOf, runFullLoad } from '../load.ts';
import { countRows, settle } from '../postgres.ts';
import type { Request } from '../requests.ts';
import { type Contender, runRounds } from '../rounds.ts';
import { type Bench, barsOf, type Outcome, type Scenario } from '../scenario.ts';
import { type Prepared, prepareService, warmUp } from '../service.ts';
import { formatRateSpread, formatRatio, formatRatioSpread, ratiosOf, type Spread } from '../statistics.ts';
import { creationPath, siteBody, tenantCount } from '../tenants.ts';

/** Objects that are changed, or stay unchanged, again and again. */
const objectCount = 4000;

/** More than any service here creates per second, so that a new object stays new. */
const mostPerSecond = 10_000;

type Kind = 'created' | 'new' | 'changed' | 'unchanged' | 'refused';

/** At least so much of the rate of creations in the same round. */
const goals = { new: 0.6, changed: 0.5, unchanged: 1, refused: 0.8 } as const;
const kinds: readonly Kind[] = ['created', 'new', 'changed', 'unchanged', 'refused'];
const groups = [4, 1] as const;

/** Journal entries that each answer stands for. */
const entriesPerAnswer = { created: 1, new: 1, changed: 1, unchanged: 0, refused: 0 } as const;

export const upserts: Scenario = {
  name: 'upserts',
  title: 'Creating and replacing by external id',
  async measure(bench) {
    const prepared = await prepareService(bench, 'upserts');
    await storeObjects(prepared);
    await warmUp(prepared, bench);
    const contenders = groups.flatMap((tenants) =>
      kinds.map((kind) => contender(bench, prepared, kind, tenants)),
    );
    for (const { run } of contenders) await run();
    const rates = await runRounds(bench, contenders, () => settle(prepared.database));
    return report(rates, bench.options.connections);
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
  return `${kind === 'changed' ? 'C' : 'U'}${tenants}-${number}`;
}

async function storeObjects({ service, tenants: { keys } }: Prepared): Promise<void> {
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
    }
  }
}

function contender(bench: Bench, prepared: Prepared, kind: Kind, tenants: number): Contender {
  const { connections, seconds } = bench.options;
  let round = 0;
  return {
    name: nameOf(kind, tenants),
    async run() {
      const requests = requestsOf(prepared, kind, tenants, ++round, seconds);
      const requestsFile = await prepared.writeRequests(`${kind}-${tenants}`, requests);
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
      // Each object in turn with either comment, so that none is sent as it is.
      return ['odd', 'even'].flatMap((turn) =>
        listOf(objectCount, (number) =>
          put(number, externalIdOf(kind, tenants, number), { comment: `${round} ${turn}` }),
        ),
      );
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
      'Created: POST without an external id. New, changed and unchanged: PUT by external id. Refused: POST with an external id that is taken.',
      'New and changed objects have a journal entry per answer; unchanged and refused ones have none.',
    ],
    figures: {
      rates: Object.fromEntries(rates),
      ratios: Object.fromEntries(measured.map(({ kind, tenants, ratio }) => [nameOf(kind, tenants), ratio])),
    },
  };
}
