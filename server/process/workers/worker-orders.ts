// Starts and stops a worker as the process that owns the port (workers.ts) orders.
import type { CountFailures, WindowCount } from '../../access/rate-limit.ts';
import { expected } from '../../telemetry/expected.ts';
import { type RunningWorker, runApp } from '../app.ts';
import { becomeAccount } from '../serving-account.ts';
import type { Order, Report } from './worker-messages.ts';

let app: Promise<RunningWorker> | undefined;
const asked = new Map<number, (count: WindowCount) => void>();
let lastId = 0;

/** Counted once for all workers: an address has one limit however its connections fall. */
const countFailures: CountFailures = (address, addition) =>
  new Promise((resolve) => {
    const id = ++lastId;
    asked.set(id, resolve);
    report({ kind: 'failure', id, address, addition });
  });

process.on('message', (order: Order) => {
  if (order.kind === 'start') {
    app = start(order);
    app.then(
      ({ port }) => report({ kind: 'listening', port }),
      (error) => {
        report({ kind: 'failed', message: error.message, code: error.code });
        process.disconnect?.();
      },
    );
  } else if (order.kind === 'counted') {
    asked.get(order.id)?.(order);
    asked.delete(order.id);
  } else if (order.kind === 'measure') void app?.then(reportMetrics).catch(expected);
  else if (order.kind === 'drain') void app?.then((running) => running.drain()).catch(expected);
  else if (order.kind === 'retire') void end((running) => running.retire(order.timeoutMs));
  else void end((running) => running.close());
});

/** The port is opened by the process that started this one, so nothing here needs root. */
async function start({ config, connection, account, sendsWebhooks }: Extract<Order, { kind: 'start' }>) {
  if (account) becomeAccount(account);
  return runApp(config, connection, { countFailures, sendsWebhooks });
}

async function end(close: (running: RunningWorker) => Promise<void>): Promise<void> {
  const running = await app?.catch(expected);
  if (running) {
    await close(running);
    await reportMetrics(running);
  }
  process.disconnect?.();
}

async function reportMetrics(running: RunningWorker): Promise<void> {
  for (const measurements of (await running.measure()).processes) report({ kind: 'measured', measurements });
}

function report(what: Report): void {
  process.send?.(what);
}
