// With any leftover of a crash or a person in postmaster.pid, a service starts, or names who has the data.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import {
  cleanUpLater,
  copyDataDir,
  countCustomers,
  createCustomer,
  endServers,
  makePreparedDataDir,
  startStamm,
} from './helpers/process.ts';

/** A program that is not PostgreSQL and runs as the same account, which PostgreSQL would take for a server. */
async function startForeign(dataDir: string): Promise<number> {
  const { uid, gid } = statSync(path.join(dataDir, 'postgres-18'));
  const foreign = spawn('sleep', ['600'], { uid, gid, cwd: '/', stdio: 'ignore' });
  await once(foreign, 'spawn');
  cleanUpLater(async () => foreign.kill());
  return foreign.pid!;
}

/** What a lock file holds after a crash: the number of the server, then its folder, time, port and more. */
type Content = (left: string, dataDir: string) => string | Promise<string>;

const contents: Record<string, Content> = {
  'is empty': () => '',
  'holds letters': () => 'not a number\n',
  'holds zero bytes': () => '\0'.repeat(60),
  'holds a negative number': (left) => left.replace(/^\d+/, '-1'),
  'holds a number that no process can have': (left) => left.replace(/^\d+/, '99999999999'),
  'names a process that has ended': (left) => left,
  'names a living process of another program': async (left, dataDir) =>
    left.replace(/^\d+/, String(await startForeign(dataDir))),
  'names this very test': (left) => left.replace(/^\d+/, String(process.pid)),
  'ends after the number': (left) => left.split('\n')[0]!,
};

const lockFiles = ['postgres-18/postmaster.pid', 'run/.s.PGSQL.5432.lock'];

interface Crashed {
  dataDir: string;
  key: string;
  /** What the lock files held while the server ran. */
  left: string[];
}

async function crashOnce(): Promise<Crashed> {
  const { dataDir, key } = await makePreparedDataDir();
  const service = await startStamm({ DATA_DIR: dataDir, WORKERS: '1' });
  assert.equal((await createCustomer(service.origin, key)).status, 201);
  const left = lockFiles.map((file) => readFileSync(path.join(dataDir, file), 'utf8'));
  await service.kill();
  await endServers(dataDir);
  return { dataDir, key, left };
}

describe('a service starts although postmaster.pid', { concurrency: 2 }, () => {
  let crashed: Crashed;
  before(async () => {
    crashed = await crashOnce();
  });

  for (const [what, contentOf] of Object.entries(contents)) {
    test(what, async () => {
      const dataDir = await copyDataDir(crashed.dataDir);
      const { uid, gid } = statSync(path.join(dataDir, 'postgres-18'));
      for (const [index, name] of lockFiles.entries()) {
        const file = path.join(dataDir, name);
        writeFileSync(file, await contentOf(crashed.left[index]!, dataDir));
        chownSync(file, uid, gid);
        // A server that starts has made its file a moment ago, and fills it soon.
        utimesSync(file, 0, 0);
      }
      const service = await startStamm({ DATA_DIR: dataDir, WORKERS: '1' });
      assert.equal(await countCustomers(service, crashed.key), 1);
      assert.equal((await createCustomer(service.origin, crashed.key)).status, 201);
      assert.equal((await service.stop()).code, 0);
    });
  }
});
