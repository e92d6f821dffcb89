// A program of its own that inserts rows one by one with a prepared statement, on any number of connections.
import pg from 'pg';
import { summarize } from '../statistics.ts';
import type { InsertOrder, InsertReport } from './pgbench.ts';

const order: InsertOrder = JSON.parse(process.argv[2]!);
const latencies: number[] = [];

const clients = Array.from({ length: order.connections }, () => new pg.Client(order.connection));
await Promise.all(clients.map((client) => client.connect()));

const startedAt = performance.now();
const endsAt = startedAt + order.seconds * 1000;
await Promise.all(
  clients.map(async (client) => {
    for (let sentAt = performance.now(); sentAt < endsAt; sentAt = performance.now()) {
      const number = Math.floor(Math.random() * order.numbers);
      await client.query({ name: 'insert', text: order.statement, values: [number] });
      latencies.push(performance.now() - sentAt);
    }
  }),
);
const seconds = (performance.now() - startedAt) / 1000;
await Promise.all(clients.map((client) => client.end()));

const report: InsertReport = { rows: latencies.length, seconds, latency: summarize(latencies) };
process.send!(report, () => process.exit());
process.on('disconnect', () => process.exit());
