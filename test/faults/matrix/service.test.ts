// The service or a part of it dies under load. Nothing is lost, doubled or invented, and the journal has no gaps.
import assert from 'node:assert/strict';
import { until } from '../../helpers/waiting.ts';
import { deployOneMachine } from '../helpers/deployments.ts';
import { assertAllCreated, tryFault } from '../helpers/matrix.ts';
import { postmasterOf } from '../helpers/process.ts';
import { workersOf } from '../helpers/process-list.ts';

const deploy = () => deployOneMachine({ WORKERS: '3' });

tryFault({
  name: 'worker killed',
  deploy,
  async strike({ service }) {
    const workers = workersOf(service);
    assert.equal(workers.length, 3);
    process.kill(workers[0]!, 'SIGKILL');
    await until('a new worker', () => workersOf(service).some((pid) => !workers.includes(pid)));
    await until('the message', () =>
      /Worker \d+ ended \(SIGKILL\) and is replaced\./.test(service.output.stdout),
    );
  },
  check(attempts) {
    const answered = attempts.filter(({ status }) => status !== undefined && status !== 409);
    assertAllCreated(answered);
  },
});

tryFault({
  name: 'service killed',
  deploy,
  async strike({ service, restart }) {
    await service.kill();
    await restart();
  },
});

tryFault({
  name: 'service and PostgreSQL killed',
  deploy,
  async strike({ dataDir, service, restart }) {
    process.kill(postmasterOf(dataDir), 'SIGKILL');
    await service.kill();
    await restart();
  },
});
