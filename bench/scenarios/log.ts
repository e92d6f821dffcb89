import { setTimeout as sleep } from 'node:timers/promises';
import { rateOf } from '../load.ts';
import { runInserts } from '../pgbench.ts';
import { settle } from '../postgres.ts';
import { type Contender, runRounds } from '../rounds.ts';
import { type Bench, barsOf, type Scenario } from '../scenario.ts';
import { createAndCheck, type Prepared, prepareService, warmUp } from '../service.ts';
import { formatRateSpread, formatRatioSpread, ratiosOf } from '../statistics.ts';

/** Bytes of PostgreSQL's log for each row that the service created, by setting. */
type LogSizes = Map<string, { bytes: number; rows: number }>;

export const log: Scenario = {
  name: 'log',
  title: "PostgreSQL's log",
  async measure(bench) {
    const { options } = bench;
    const prepared = await prepareService(bench, 'log');
    await warmUp(prepared, bench);
    const sizes: LogSizes = new Map();
    const contenders = ['off', 'pglz'].flatMap((setting) => listContenders(bench, prepared, setting, sizes));
    const rates = await runRounds(bench, contenders);
    await compress(prepared, 'DEFAULT');
    const [plain, plainInserts] = rates.values();
    return {
      tables: [
        {
          columns: [
            `Rows at ${options.connections} connections`,
            'per second',
            'in ratio to off',
            'log for a row',
          ],
          rows: [...rates].map(([name, rate]) => {
            const reference = name.startsWith('Stamm') ? plain! : plainInserts!;
            const size = sizes.get(name);
            return [
              name,
              formatRateSpread(rate),
              rate === reference ? '' : formatRatioSpread(ratiosOf(rate, reference)),
              size ? `${Math.round(size.bytes / size.rows).toLocaleString('en-US')} bytes` : '',
            ];
          }),
        },
      ],
      charts: [{ title: 'Rows with and without compression of the log', unit: '/s', bars: barsOf(rates) }],
      goals: [],
      notes: [
        'Each round begins at a checkpoint, when every page that is touched is logged as a whole once.',
      ],
      figures: { rates: Object.fromEntries(rates), sizes: Object.fromEntries(sizes) },
    };
  },
};

function listContenders(
  { options, postgres }: Bench,
  prepared: Prepared,
  setting: string,
  sizes: LogSizes,
): Contender[] {
  const { connections, seconds } = options;
  const { database } = prepared;
  const service = `Stamm, wal_compression ${setting}`;
  return [
    {
      name: service,
      async run() {
        await begin(prepared, setting);
        const before = await logPosition(prepared);
        const created = await createAndCheck(prepared, { connections, seconds });
        const size = sizes.get(service) ?? { bytes: 0, rows: 0 };
        size.bytes += (await logPosition(prepared)) - before;
        size.rows += created.answers;
        sizes.set(service, size);
        return rateOf(created);
      },
    },
    {
      name: `pgbench, wal_compression ${setting}`,
      async run() {
        await begin(prepared, setting);
        const inserts = await runInserts(database, { connections, seconds, workDir: postgres.workDir });
        return inserts.rows / inserts.seconds;
      },
    },
  ];
}

async function begin(prepared: Prepared, setting: string): Promise<void> {
  await compress(prepared, setting);
  await settle(prepared.database);
}

async function compress({ database }: Prepared, setting: string): Promise<void> {
  await database.owner.query(`ALTER SYSTEM SET wal_compression = ${setting}`);
  await database.owner.query('SELECT pg_reload_conf()');
  // Each process of PostgreSQL takes it over with its next statement.
  await sleep(200);
}

async function logPosition({ database }: Prepared): Promise<number> {
  const { rows } = await database.owner.query("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS bytes");
  return Number(rows[0].bytes);
}
