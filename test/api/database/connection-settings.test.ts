// The settings of the service's connections override those of the server.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type pg from 'pg';
import { openDatabase } from '../../../server/database/database.ts';
import { startService } from '../../helpers/service.ts';

const service = await startService();
const { owner, connection, serviceConnection } = service;

const lines: { statement: string; durationMs: number; rows?: number; code?: string; message: string }[] = [];
const statementLog = {
  debug: (line: object, message: string) => void lines.push({ ...(line as (typeof lines)[0]), message }),
};

await owner.query(`ALTER DATABASE ${connection.database} SET jit = on`);
const database = openDatabase(serviceConnection, { maxConnections: 1, statementLog });
const lone = await database.connect();
after(async () => {
  await lone.end();
  await database.close();
});

const kinds: [string, (query: pg.QueryConfig) => Promise<pg.QueryResult>][] = [
  ['a request', (query) => database.queryInTenants([service.tenant.tenantId], query)],
  [
    'a transaction',
    (query) => database.inTenants([service.tenant.tenantId], (client) => client.query(query)),
  ],
  ['a statement of no tenant', (query) => database.pool.query(query)],
  ['an import', (query) => lone.query(query)],
];

for (const [what, run] of kinds) {
  test(`the connection of ${what} compiles no statement`, async () => {
    const { rows } = await run({ text: `SELECT current_setting('jit') AS jit` });
    assert.deepEqual(rows, [{ jit: 'off' }]);
  });

  test(`the debug log shows a statement of ${what} with its time and rows, without values`, async () => {
    lines.length = 0;
    await run({ text: 'SELECT $1::text\n  FROM generate_series(1, 3)', values: ['a secret'] });
    const [line, ...others] = lines.filter(({ statement }) => statement.startsWith('SELECT'));
    assert.equal(line?.statement, 'SELECT $1::text FROM generate_series(1, 3)');
    assert.equal(line.rows, 3);
    assert.ok(line.durationMs > 0);
    assert.deepEqual(others, []);
    assert.doesNotMatch(JSON.stringify(lines), /a secret/);
  });

  test(`the debug log shows the name of a prepared statement of ${what}`, async () => {
    lines.length = 0;
    await run({ name: 'count to three', text: 'SELECT FROM generate_series(1, 3)' });
    assert.equal(lines.filter(({ statement }) => statement === 'count to three').length, 1);
  });

  test(`the debug log shows a failed statement of ${what} with its code, without values`, async () => {
    lines.length = 0;
    await assert.rejects(run({ text: 'SELECT $1::text::integer', values: ['a secret'] }));
    const failed = lines.find(({ statement }) => statement.startsWith('SELECT'));
    assert.deepEqual([failed?.message, failed?.code], ['statement failed', '22P02']);
    assert.doesNotMatch(JSON.stringify(lines), /a secret/);
  });
}
