// The disk fills up or becomes slow under load. Nothing is lost, doubled or invented, and the journal has no gaps.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { findProgram } from '../../helpers/programs.ts';
import { until } from '../../helpers/waiting.ts';
import { deployOneMachine, promised } from '../helpers/deployments.ts';
import { assertAnswered, tryFault } from '../helpers/matrix.ts';
import {
  cleanUpLater,
  connectionTo,
  createTenant,
  postmasterOf,
  untilUnavailable,
  withClient,
} from '../helpers/process.ts';
import { childrenOf } from '../helpers/process-list.ts';
import { fillDisk, makeDataDirOnDisk, withoutMounts } from '../helpers/small-disk.ts';

const diskFull = '53100';

/** Goes from one log file to the next until there is no room for another, which ends the server. */
async function fillWriteAheadLog(dataDir: string): Promise<void> {
  await until('the write-ahead log is full', () =>
    withClient(connectionTo(dataDir), (client) =>
      client.query(`SELECT pg_logical_emit_message(false, 'test', ''), pg_switch_wal()`),
    ).then(
      () => false,
      ({ code }: pg.DatabaseError) => code !== diskFull,
    ),
  );
}

tryFault({
  name: 'disk full',
  skip: withoutMounts,
  async deploy() {
    let disk = '';
    const machine = await deployOneMachine({}, async () => {
      const prepared = await makeDataDirOnDisk(320);
      disk = prepared.disk;
      return prepared;
    });
    return Object.assign(machine, { disk });
  },
  async strike({ dataDir, disk, origin }) {
    // The books have only what the load sent.
    const other = await withClient(connectionTo(dataDir), createTenant);
    const filler = await fillDisk(disk);
    await untilUnavailable(origin, other.key);
    await fillWriteAheadLog(dataDir);
    await untilUnavailable(origin, other.key);
    await rm(filler);
  },
});

const withoutStrace = findProgram('strace')
  ? spawnSync('strace', ['-o', '/dev/null', 'true']).status !== 0 && 'this account may not trace processes'
  : 'strace is missing: apt-get install strace';

tryFault({
  name: 'disk slow',
  skip: withoutStrace,
  deploy: () => deployOneMachine(promised),
  async strike({ dataDir }, _load, random) {
    const postmaster = postmasterOf(dataDir);
    const pids = [postmaster, ...childrenOf(postmaster)];
    const delayUs = Math.round(1e5 + 4e5 * random());
    const calls = 'fsync,fdatasync';
    const strace = spawn(
      'strace',
      [
        '-f',
        '-qq',
        '-o',
        '/dev/null',
        `-einject=${calls}:delay_exit=${delayUs}`,
        `-etrace=${calls}`,
        '-p',
        pids.join(),
      ],
      { stdio: 'ignore' },
    );
    const ended = once(strace, 'exit');
    cleanUpLater(async () => strace.kill('SIGKILL'));
    await sleep(2000 + 4000 * random());
    strace.kill('SIGTERM');
    const [, signal] = await ended;
    assert.equal(signal, 'SIGTERM', 'it traced until it was told to end');
  },
  check: assertAnswered,
});
