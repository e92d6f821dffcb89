// The first synchronisation of a business into an empty database, and the same of a second business, when PostgreSQL knows
// the tables. Statements are planned before the first row, so an object must not cost more there.
import { setTimeout as sleep } from 'node:timers/promises';
import { resources } from '../../server/resources/index.ts';
import type { BenchDatabase } from '../postgres.ts';
import { runScoped } from '../processes.ts';
import type { Bench, Goal, Table } from '../scenario.ts';
import { startStamm } from '../stamm-process.ts';
import { formatRate, formatRatio } from '../statistics.ts';
import { bodyOf, upsertPath } from './every-resource.ts';
import { createTenants } from './tenants.ts';

/** Fewer than so many rows are read for each written object. */
const mostRows = 20;
/** Requests under way at any time. */
const atOnce = 32;

interface Target {
  origin: string;
  key: string;
}

/** Sends the objects with these numbers of every resource. */
type Way = (target: Target, numbers: readonly number[]) => Promise<void>;

const ways: Record<string, Way> = {
  'POST with an external id': oneByOne('POST', ({ path }) => path),
  PUT: oneByOne('PUT', upsertPath),
  PATCH: oneByOne('PATCH', upsertPath),
  'lines of an import': importAll,
};

function oneByOne(method: string, pathOf: typeof upsertPath): Way {
  return async ({ origin, key }, numbers) => {
    const headers = { ApiKey: key, 'Content-Type': 'application/json' };
    for (const resource of resources) {
      const left = numbers.values();
      const sendRest = async () => {
        for (const number of left) {
          const body = JSON.stringify(bodyOf(resource, number));
          const url = `${origin}/api/v1${pathOf(resource, number)}`;
          const answer = await fetch(url, { method, headers, body });
          const text = await answer.text();
          if (answer.status !== 201) throw new Error(`${method} of a ${resource.name}: ${text}`);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, sendRest));
    }
  };
}

async function importAll({ origin, key }: Target, numbers: readonly number[]): Promise<void> {
  const lines = resources.flatMap((resource) =>
    numbers.map((number) => JSON.stringify({ type: resource.name, data: bodyOf(resource, number) })),
  );
  const answer = await fetch(`${origin}/api/v1/import`, {
    method: 'POST',
    headers: { ApiKey: key, 'Content-Type': 'application/x-ndjson' },
    body: `${lines.join('\n')}\n`,
  });
  const last = (await answer.text()).trim().split('\n').at(-1)!;
  if (JSON.parse(last).summary?.created !== lines.length) throw new Error(`Import: ${last}`);
}

interface Measured {
  way: string;
  fresh: Synchronised;
  known: Synchronised;
}

interface Synchronised {
  perSecond: number;
  rowsPerObject: number;
}

export async function measureFreshFolder(bench: Bench): Promise<{ table: Table; goals: Goal[] }> {
  const objects = bench.options.isQuick ? 200 : 2000;
  const measured: Measured[] = [];
  for (const [way, send] of Object.entries(ways)) {
    bench.say(`A first synchronisation by ${way} …`);
    measured.push({ way, ...(await runScoped(() => measureWay(bench, send, objects))) });
  }
  return report(measured, objects);
}

async function measureWay(
  { postgres }: Bench,
  send: Way,
  objects: number,
): Promise<{ fresh: Synchronised; known: Synchronised }> {
  const database = await postgres.createDatabase('bench_fresh');
  const { keys } = await createTenants(database, 2);
  const numbers = Array.from({ length: objects }, (_, index) => index + 1);
  const synchronise = async (key: string): Promise<Synchronised> => {
    const before = await countRowsRead(database);
    const service = await startStamm({ DATABASE_URL: database.url }, postgres.workDir);
    const startedAt = performance.now();
    await send({ origin: service.origin, key }, numbers);
    const seconds = (performance.now() - startedAt) / 1000;
    // Connections report what they have read when they end.
    await service.stop();
    const written = objects * resources.length;
    return {
      perSecond: written / seconds,
      rowsPerObject: ((await countRowsRead(database)) - before) / written,
    };
  };
  const fresh = await synchronise(keys[0]!);
  await database.owner.query('VACUUM ANALYZE');
  return { fresh, known: await synchronise(keys[1]!) };
}

/** Without the record of requests, which the service reads now and then to keep it short. */
async function countRowsRead({ owner }: BenchDatabase): Promise<number> {
  await sleep(1000);
  const { rows } = await owner.query<{ count: string }>(
    `SELECT (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes WHERE relname <> 'recorded_request')
       + (SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_user_tables WHERE relname <> 'recorded_request') AS count`,
  );
  return Number(rows[0]!.count);
}

function report(measured: readonly Measured[], objects: number): { table: Table; goals: Goal[] } {
  return {
    table: {
      columns: [
        `${formatRate(objects)} objects of each resource`,
        'per second into an empty database',
        'in ratio to known tables',
        'rows read per object',
        'with known tables',
      ],
      rows: measured.map(({ way, fresh, known }) => [
        way,
        formatRate(fresh.perSecond),
        formatRatio(fresh.perSecond / known.perSecond),
        fresh.rowsPerObject.toFixed(1),
        known.rowsPerObject.toFixed(1),
      ]),
    },
    goals: measured.map(({ way, fresh }) => ({
      wanted: `${way}, into an empty database: fewer than ${mostRows} rows read per object`,
      measured: fresh.rowsPerObject.toFixed(1),
      isMet: fresh.rowsPerObject < mostRows,
    })),
  };
}
