// A stop that is asked for loses nothing that was sent before it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEmbeddedPostgres } from '../../server/database/embedded/postgres.ts';
import { idsOf, startLoad } from './helpers/load.ts';
import { createdSince } from './helpers/matrix.ts';
import { findServers, makePreparedDataDir, startStamm, withClient } from './helpers/process.ts';

test('SIGTERM under load answers everything that was sent before it, and every row that was written', async () => {
  const { dataDir, key } = await makePreparedDataDir();
  const service = await startStamm({ DATA_DIR: dataDir, RATE_LIMIT_PER_MINUTE: '1000000000' });
  const load = startLoad(service.origin, key);
  await createdSince(load, 0);
  const stoppedAt = performance.now();
  const { code } = await service.stop();
  const attempts = await load.stop();
  assert.equal(code, 0);
  assert.deepEqual(findServers(dataDir), []);
  const unanswered = attempts.filter(({ sentAt, status }) => sentAt < stoppedAt && status !== 201);
  assert.deepEqual(unanswered, []);
  const postgres = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
  const { rows } = await withClient(postgres.connection, (client) =>
    client.query('SELECT id FROM customer ORDER BY id'),
  );
  await postgres.close();
  // As many rows as answers: no request was accepted and then dropped.
  assert.deepEqual(
    rows.map(({ id }) => id),
    idsOf(attempts).sort(),
  );
});
