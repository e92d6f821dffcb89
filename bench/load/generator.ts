// A program of its own that sends requests and tells what became of them. Without a rate each connection sends its next
// request when the last is answered (closed loop). With one, requests are due at fixed times, however slow the service
// is (open loop). Their latency counts from when they were due: a service that stalls cannot hide it.

import { summarize } from '../statistics.ts';
import { type Connection, openConnection } from './http-connection.ts';
import type { LoadOrder, LoadReport } from './load.ts';
import { readRequests } from './requests.ts';

const order: LoadOrder = JSON.parse(process.argv[2]!);
const { hostname, port, host } = new URL(order.origin);
const requests = readRequests(order.requestsFile, host);

/** At a rate, the latencies of the first second do not count, because the generator is still speeding up. */
const leadSeconds = order.ratePerSecond === undefined ? 0 : 1;
const seconds = order.seconds + leadSeconds;

/** How long answers are waited for after the last request. */
const drainMs = 10_000;

const statuses: Record<string, number> = {};
const served: { dueAt: number; ms: number }[] = [];
/** Rejected requests: how long after sending the answer came, in the first second and later. */
const refusedFirst: number[] = [];
const refusedLater: number[] = [];
let broken = 0;
let unsent = 0;
let underWay = 0;
let nextRequest = Math.floor(Math.random() * requests.length);
let startedAt = 0;
let lastAnswerAt = 0;

function secondOf(time: number): number {
  return Math.floor((time - startedAt) / 1000);
}

function send(connection: Connection, dueAt: number, onEnd: (isOpen: boolean) => void): void {
  const sentAt = performance.now();
  underWay++;
  const request = requests[nextRequest]!;
  nextRequest = (nextRequest + 1) % requests.length;
  connection.send(request, (status) => {
    underWay--;
    lastAnswerAt = performance.now();
    if (status === 0) broken++;
    else {
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status < 400) served.push({ dueAt, ms: lastAnswerAt - dueAt });
      else (secondOf(dueAt) < leadSeconds ? refusedFirst : refusedLater).push(lastAnswerAt - sentAt);
    }
    onEnd(!connection.socket.destroyed);
  });
}

function openAll(): Promise<Connection[]> {
  const connections = Array.from({ length: order.connections }, () => openConnection(hostname, Number(port)));
  const opened = connections.map(
    ({ socket }) => new Promise((resolve) => socket.once('connect', resolve).once('close', resolve)),
  );
  return Promise.all(opened).then(() => connections);
}

/** Resolves when everything that was sent is answered, or will not be. */
async function drain(): Promise<void> {
  const deadline = performance.now() + drainMs;
  while (underWay > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function runClosed(connections: Connection[]): Promise<void> {
  const endsAt = startedAt + seconds * 1000;
  const sendNext = (connection: Connection) => {
    const now = performance.now();
    if (now >= endsAt) return;
    send(connection, now, (isOpen) => {
      if (isOpen) sendNext(connection);
      // A server that ends connections costs the next request a new one; one that refuses them is not hammered.
      else setTimeout(() => sendNext(openConnection(hostname, Number(port))), 20);
    });
  };
  for (const connection of connections) sendNext(connection);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

async function runOpen(free: Connection[], ratePerSecond: number): Promise<void> {
  const most = order.maxConnections ?? order.connections;
  const total = Math.floor(ratePerSecond * seconds);
  const backlog: number[] = [];
  let open = free.length;
  let due = 0;

  const sendDue = (connection: Connection, dueAt: number) =>
    send(connection, dueAt, (isOpen) => {
      if (!isOpen) open--;
      const next = backlog.shift();
      if (next !== undefined) sendDue(isOpen ? connection : openNew(), next);
      else if (isOpen) free.push(connection);
    });
  const openNew = () => {
    open++;
    return openConnection(hostname, Number(port));
  };

  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const now = performance.now();
      for (; due < total; due++) {
        const dueAt = startedAt + (due * 1000) / ratePerSecond;
        if (dueAt > now) return;
        const connection = free.pop() ?? (open < most ? openNew() : undefined);
        if (connection) sendDue(connection, dueAt);
        else backlog.push(dueAt);
      }
      clearInterval(timer);
      resolve();
    }, 1);
  });
  // Requests not sent by the end are counted separately.
  unsent = backlog.length;
  backlog.length = 0;
}

const connections = await openAll();
startedAt = performance.now();
if (order.ratePerSecond === undefined) await runClosed(connections);
else await runOpen(connections, order.ratePerSecond);
await drain();

const counted = served.filter(({ dueAt }) => secondOf(dueAt) >= leadSeconds);
const bySecond = Map.groupBy(served, ({ dueAt }) => secondOf(dueAt));

const report: LoadReport = {
  generator: 'own',
  seconds: (lastAnswerAt - startedAt) / 1000,
  answers: Object.values(statuses).reduce((sum, count) => sum + count, 0),
  statuses,
  broken: broken + underWay,
  unsent,
  latency: summarize(counted.map(({ ms }) => ms)),
  refusals: summarize(refusedLater),
  firstRefusals: summarize(refusedFirst),
  p99BySecond: Array.from(
    { length: seconds },
    (_, second) => summarize((bySecond.get(second) ?? []).map(({ ms }) => ms)).p99,
  ),
};
process.send!(report, () => process.exit());
