// A disk that takes no writes is named in a sentence, by a start, by commands and by the doctor. The kernel makes no
// disk read-only while a server has files open on it. So all of this is about starts.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import {
  assertRefused,
  cleanUpLater,
  createCustomer,
  endServers,
  findServers,
  makePreparedDataDir,
  runStamm,
  startStamm,
} from './helpers/process.ts';
import { mountDisk, remountDisk, withoutMounts } from './helpers/small-disk.ts';

describe('a read-only disk', { skip: withoutMounts }, () => {
  test('keeps a service from starting on its data, in a sentence; when it takes writes the service starts', async () => {
    const { dataDir: original, key } = await makePreparedDataDir();
    const disk = await mountDisk(160);
    const dataDir = path.join(disk, 'data');
    assert.equal(spawnSync('cp', ['-a', original, dataDir]).status, 0);
    cleanUpLater(() => endServers(dataDir));
    const env = { DATA_DIR: dataDir };
    remountDisk(disk, 'ro');
    const sentence =
      /^The data directory \S+ cannot be used: EROFS: .* Correct this, or choose another DATA_DIR\.$/m;
    assertRefused(await runStamm(['serve'], env), sentence);
    assertRefused(await runStamm(['tenant', 'list'], env), sentence);
    const { code, stdout } = await runStamm(['doctor', '--json'], env);
    assert.equal(code, 1);
    const { findings } = JSON.parse(stdout) as { findings: { code?: string; message: string }[] };
    assert.match(findings.find((found) => found.code === 'data_folder_unusable')!.message, /read-only/);
    assert.deepEqual(findServers(dataDir), []);
    remountDisk(disk, 'rw');
    const service = await startStamm(env);
    assert.equal((await createCustomer(service.origin, key)).status, 201);
    assert.equal((await service.stop()).code, 0);
  });

  test('refuses a first start and a backup in a sentence', async () => {
    const disk = await mountDisk(8);
    remountDisk(disk, 'ro');
    const env = { DATA_DIR: path.join(disk, 'data') };
    assertRefused(await runStamm(['serve'], env), /^The data directory .* cannot be used: EROFS/);
    const { dataDir } = await makePreparedDataDir();
    const backup = await runStamm(['backup', path.join(disk, 'all.backup')], { DATA_DIR: dataDir });
    assert.match(backup.stderr, /EROFS/);
    assert.doesNotMatch(backup.stderr, /^\s+at /m);
    assert.equal(backup.code, 1);
    assert.deepEqual(readdirSync(disk), []);
    const { stdout } = await runStamm(['doctor'], { DATA_DIR: dataDir, BACKUP_DIR: disk });
    assert.match(stdout, /^✗ backup +\S+ cannot be written to \(EROFS: /m);
  });
});
