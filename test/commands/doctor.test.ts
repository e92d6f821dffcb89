// The doctor names settings that work but will hurt, each with its fix.
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { databaseUrl, type Environment, runStamm, withClient } from '../faults/helpers/process.ts';
import { basemapLayers, pmtilesFile, vectorTile } from '../helpers/pmtiles-file.ts';
import { createTestDatabase } from '../helpers/service.ts';

const connection = await createTestDatabase();
const folder = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
// Started as root, the service would run as another account.
await chmod(folder, 0o777);
after(() => rm(folder, { recursive: true }));

function change(setting: string) {
  return withClient(connection, (client) => client.query(`ALTER DATABASE ${connection.database} ${setting}`));
}

/** The lines of the doctor by what they are about. */
async function examine(settings: Environment, exitCode = 0): Promise<Record<string, string>> {
  const env = { DATABASE_URL: databaseUrl(connection), BACKUP_DIR: folder, ...settings };
  const { code, stdout } = await runStamm(['doctor'], env);
  assert.equal(code, exitCode, stdout);
  return Object.fromEntries(stdout.split('\n').map((line) => [line.split(/ +/)[1], line]));
}

async function writeBackupOf(at: Date): Promise<void> {
  const name = `stamm-${at.toISOString().replace(/[-:]|\.\d+/g, '')}.backup`;
  await writeFile(path.join(folder, name), '');
}

describe('the doctor', () => {
  test('warns of an old backup, too few connections and a missing PUBLIC_URL', async () => {
    await writeBackupOf(new Date('2020-01-01T00:00:00Z'));
    await change('CONNECTION LIMIT 10');
    const lines = await examine({ TRUST_PROXY: 'loopback' });
    assert.match(lines.backup!, /^! backup .*20200101T000000Z\.backup, 0\.0 MB, \d+ hours old: see the log/);
    assert.match(lines.connections!, /^! connections .*10 connections are allowed.*raise max_connections/);
    assert.match(lines.address!, /^! address +PUBLIC_URL is not set/);
  });

  test('finds the same settings in order when they are, and jit off although the server has it on', async () => {
    await writeBackupOf(new Date());
    await change('CONNECTION LIMIT -1');
    await change('SET jit = on');
    const lines = await examine({
      TRUST_PROXY: 'loopback',
      PUBLIC_URL: 'https://stamm.example',
      DATABASE_CONNECTIONS: '4',
      WORKERS: '1',
    });
    assert.match(lines.backup!, /^✓ backup .*, 0 hours old$/);
    assert.match(lines.connections!, /^✓ connections /);
    assert.equal(lines.address, undefined);
    assert.match(lines.jit!, /^✓ jit +off for requests/);
  });

  test('says that there is no backup yet', async () => {
    const lines = await examine({ BACKUP_DIR: path.join(folder, 'never-made') });
    assert.match(
      lines.backup!,
      /^! backup +none in .*never-made yet: the running service makes the first within a minute/,
    );
  });

  test('warns of a file with tiles that cannot be used', async () => {
    const file = path.join(folder, 'germany.pmtiles');
    await writeFile(file, 'not yet');
    const lines = await examine({ MAP_TILES_FILE: file });
    assert.match(lines.map!, /^! map +MAP_TILES_FILE .*germany\.pmtiles is not a PMTiles file/);
    const tiles = { '0/0/0': vectorTile({}) };
    await writeFile(file, pmtilesFile({ tileType: 1, metadata: basemapLayers, tiles }));
    assert.match((await examine({ MAP_TILES_FILE: file })).map!, /^✓ map +tiles come from .*germany/);
    assert.equal((await examine({})).map, undefined);
  });

  test('fails on a read-only database', async () => {
    await change('SET default_transaction_read_only = on');
    const lines = await examine({}, 1);
    assert.match(lines.writes!, /^✗ writes +the database is read-only: .*default_transaction_read_only/);
  });
});
