import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { readConfig } from '../server/config.ts';

test('a core is left to the PostgreSQL that Stamm brings, and none to one that is elsewhere', () => {
  const cores = availableParallelism();
  assert.equal(readConfig({}).WORKERS, Math.max(1, cores - 1));
  assert.equal(readConfig({ DATABASE_URL: 'postgres://localhost/stamm' }).WORKERS, cores);
  assert.equal(readConfig({ WORKERS: '7' }).WORKERS, 7);
});
