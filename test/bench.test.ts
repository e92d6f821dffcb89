// The benchmark itself, very shortly: what it says must be true, and it must leave nothing behind.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { demandStatus, type LoadReport } from '../bench/load/load.ts';
import { buildPageScript } from '../bench/load/pgbench.ts';
import { demandRows } from '../bench/service.ts';
import { readProcessorTicks } from '../bench/stolen-time.ts';

const checkout = path.resolve(import.meta.dirname, '..');
const folder = mkdtempSync(path.join(tmpdir(), 'stamm-test-'));
// The account that PostgreSQL runs as may be another than ours, and must get through.
chmodSync(folder, 0o755);
after(() => rmSync(folder, { recursive: true }));

test('a run checks every answer and row, writes its results and ends what it started', async () => {
  const results = path.join(folder, 'results');
  const words = [
    'creation',
    '--rounds=1',
    '--seconds=1',
    '--warm-up=1',
    '--connections=8',
    `--results=${results}`,
  ];
  const child = spawn(process.execPath, ['bench/main.ts', ...words], {
    cwd: checkout,
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [code]] = await Promise.all([
    Array.fromAsync(child.stdout.setEncoding('utf8')),
    Array.fromAsync(child.stderr.setEncoding('utf8')),
    once(child, 'close'),
  ]);
  assert.equal(code, 0, errors.join('') + output.join(''));
  assert.deepEqual(readdirSync(folder), ['results']);

  const { sections } = JSON.parse(readFileSync(path.join(results, 'latest.json'), 'utf8'));
  assert.equal(sections[0].scenario, 'creation');
  for (const name of ['Stamm', 'pgbench', 'bare node:http']) {
    const { rounds, median } = sections[0].figures.rates[name];
    assert.equal(rounds.length, 1);
    assert.ok(median > 0, name);
  }
  assert.match(sections[0].notes.join(' '), /as many rows and journal entries as answers/);
  assert.match(readFileSync(path.join(results, 'latest.md'), 'utf8'), /^\| Stamm \| [\d,]+ /m);
  assert.match(readFileSync(path.join(results, 'latest.svg'), 'utf8'), /<rect class="ours"/);
});

test('pgbench gets one statement per line', () => {
  const [set, ...statements] = buildPageScript({ text: 'SELECT $1, $2', rows: 51 }).trim().split('\n');
  assert.match(set!, /^\\set tenant /);
  const words = statements.map((statement) => /^(\w+)((?!SET )[^;])*;$/.exec(statement)?.[1]);
  assert.deepEqual(new Set(words), new Set(['BEGIN', 'SELECT', 'SET', 'COMMIT']));
});

test('an answer without its row, or a row without its journal entry, fails a run', () => {
  const before = { sites: 10, entries: 5 };
  demandRows(before, { sites: 110, entries: 105 }, 100, 0);
  demandRows(before, { sites: 174, entries: 169 }, 100, 64);
  assert.throws(() => demandRows(before, { sites: 109, entries: 104 }, 100, 64), /100 answers, but 99 rows/);
  assert.throws(() => demandRows(before, { sites: 111, entries: 106 }, 100, 0), /101 rows/);
  assert.throws(() => demandRows(before, { sites: 110, entries: 104 }, 100, 0), /99 journal entries/);
});

const none = { count: 0, p50: 0, p99: 0, max: 0 };

function report(statuses: Record<string, number>, answers: number, broken = 0): LoadReport {
  return {
    ...{ generator: 'own', seconds: 1, answers, statuses, broken, unsent: 0 },
    ...{ latency: none, refusals: none, firstRefusals: none, p99BySecond: [] },
  };
}

test('an answer that is not what was asked for, or none at all, fails a run', () => {
  demandStatus('Creation', report({ 201: 10 }, 10), 201);
  assert.throws(() => demandStatus('Creation', report({ 201: 9, 200: 1 }, 10), 201), /200: 1/);
  assert.throws(() => demandStatus('Creation', report({ '2xx': 9, '4xx and 5xx': 1 }, 10), 201), /5xx: 1/);
  assert.throws(() => demandStatus('Creation', report({ 201: 10 }, 10, 1), 201), /no answer: 1/);
  assert.throws(() => demandStatus('Creation', report({}, 0), 201), /none came/);
});

test('stolen time is what Linux counts as such', () => {
  const readStolen = () => {
    const text = existsSync('/proc/stat') ? readFileSync('/proc/stat', 'utf8') : '';
    return Number(/^cpu +(?:\d+ ){7}(\d+)/.exec(text)?.[1] ?? 0);
  };
  const before = readStolen();
  const { all, stolen } = readProcessorTicks();
  assert.ok(stolen >= before && stolen <= readStolen() && stolen <= all, `${stolen} of ${all}`);
});
