// PostgreSQL dies or hangs under load. Nothing is lost, doubled or invented, and the journal has no gaps.
import assert from 'node:assert/strict';
import { startWatch, until } from '../../helpers/waiting.ts';
import { deployOneMachine, promised } from '../helpers/deployments.ts';
import type { Load } from '../helpers/load.ts';
import { assertAnswered, longestAnswerMs, tryFault } from '../helpers/matrix.ts';
import { cleanUpLater, postmasterOf, withClient } from '../helpers/process.ts';
import { childrenOf, signalProcesses } from '../helpers/process-list.ts';

const noticed = (load: Load) =>
  until('a request notices', () => load.attempts.some(({ status }) => status === 500));

const deploy = () => deployOneMachine(promised);

tryFault({
  name: 'PostgreSQL killed',
  deploy,
  async strike({ dataDir }, load) {
    process.kill(postmasterOf(dataDir), 'SIGKILL');
    await noticed(load);
  },
  check: assertAnswered,
});

// PostgreSQL ends all connections then, because it cannot trust its shared memory any more.
tryFault({
  name: 'connection of PostgreSQL killed',
  deploy,
  async strike({ connection }, load) {
    const { rows } = await withClient(connection, (client) =>
      client.query(`SELECT pid FROM pg_stat_activity WHERE datname = 'stamm' AND application_name = ''
        AND backend_type = 'client backend' AND pid <> pg_backend_pid()`),
    );
    process.kill(rows[0].pid, 'SIGKILL');
    await noticed(load);
  },
  check: assertAnswered,
});

tryFault({
  name: 'PostgreSQL stopped and continued',
  deploy,
  async strike({ dataDir, origin }, load) {
    const resume = hang(dataDir);
    const hungAt = performance.now();
    const afterwards = () => load.attempts.filter(({ sentAt }) => sentAt > hungAt);
    assert.equal((await fetch(`${origin}/livez`)).status, 200);
    // First with a connection that the hanging server had, and later with none left.
    const readiness: Awaited<ReturnType<typeof timeReadiness>>[] = [];
    await until('an answer to each sender', async () => {
      readiness.push(await timeReadiness(origin));
      return afterwards().length >= 16;
    });
    const meanwhile = afterwards();
    resume();
    assert.ok(meanwhile.every((attempt) => attempt.status === 500));
    // A finding from before is repeated for a second.
    const foundAway = readiness.slice(readiness.findIndex(({ status }) => status === 500));
    for (const { status, tookMs } of foundAway) {
      assert.equal(status, 500);
      assert.ok(tookMs < longestAnswerMs, `/readyz took ${Math.round(tookMs)} ms`);
    }
  },
  check: assertAnswered,
});

async function timeReadiness(origin: string): Promise<{ status: number; tookMs: number }> {
  const watch = startWatch();
  const { status } = await fetch(`${origin}/readyz`);
  return { status, tookMs: watch() };
}

/** Stops the postmaster, which makes no new process from then on, and then all that it has made. */
function hang(dataDir: string): () => void {
  const postmaster = postmasterOf(dataDir);
  const pids = [postmaster];
  const resume = () => signalProcesses(pids.splice(0), 'SIGCONT');
  cleanUpLater(async () => resume());
  process.kill(postmaster, 'SIGSTOP');
  pids.push(...childrenOf(postmaster));
  signalProcesses(pids, 'SIGSTOP');
  return resume;
}
