import assert from 'node:assert/strict';
import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { rotateLog } from './log-rotation.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'stamm-test-'));
after(() => rmSync(folder, { recursive: true }));

test('a log that a server holds open moves on when it is too long, and five of them stay', () => {
  const logFile = path.join(folder, 'postgres.log');
  const server = openSync(logFile, 'a');
  for (let round = 1; round <= 8; round += 1) {
    writeSync(server, `round ${round}\n`);
    assert.equal(rotateLog(logFile, 100), false);
    assert.equal(rotateLog(logFile, 5), true);
  }
  writeSync(server, 'still written\n');
  closeSync(server);
  assert.equal(readFileSync(logFile, 'utf8'), 'still written\n');
  const kept = readdirSync(folder).sort();
  assert.deepEqual(kept, ['postgres.log', ...[1, 2, 3, 4, 5].map((number) => `postgres.log.${number}`)]);
  assert.equal(readFileSync(`${logFile}.1`, 'utf8'), 'round 8\n');
  assert.equal(readFileSync(`${logFile}.5`, 'utf8'), 'round 4\n');
});

test('a rotation writes through no link, and a killed one is repeated', () => {
  const logFile = path.join(folder, 'linked.log');
  const victim = path.join(folder, 'victim');
  writeFileSync(victim, 'untouched');
  symlinkSync(victim, `${logFile}.new`);
  appendFileSync(logFile, 'a line that is long enough\n');
  assert.equal(rotateLog(logFile, 5), true);
  assert.equal(readFileSync(victim, 'utf8'), 'untouched');
  assert.equal(readFileSync(`${logFile}.1`, 'utf8'), 'a line that is long enough\n');
  rmSync(logFile);
  symlinkSync(victim, logFile);
  assert.throws(() => rotateLog(logFile, 5), { code: 'ELOOP' });
  assert.equal(readFileSync(victim, 'utf8'), 'untouched');
});

test('a log that is not there yet needs nothing', () => {
  assert.equal(rotateLog(path.join(folder, 'none.log')), false);
});
