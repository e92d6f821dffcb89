// Code that parses, plans or ranks stored rows in Node works in steps (core/pace.ts), or says here why it has few of them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';

const root = path.resolve(import.meta.dirname, '..');

/** What costs more than copying a row. */
const costly =
  /\b(JSON\.parse|parseExactly|toSitePlan|visitsOn|firstClosedVisit|collectVisits|findMatch|localeCompare)\(/;
const paced = /from '.*\/(pace|request-pace)\.ts'/;

const oneValue = 'one value, or a row at a time for a caller that has a pace';
const onePage = 'a page of small rows';

/** By file, why its work is short. */
const exceptions: Record<string, string> = {
  'server/engine/http/export-routes.ts': oneValue,
  'server/engine/read/list-query.ts': 'a cursor',
  'server/engine/openapi/answers.ts': 'an example, at the start',
  'server/features/audit/audit-list.ts': onePage,
  'server/features/backup/file.ts': 'a command of its own process',
  'server/features/bin/bin-routes.ts': 'a cursor',
  'server/features/call-log/call-log-routes.ts': onePage,
  'server/features/call-log/masked-body.ts': oneValue,
  'server/features/care-role/care-role.ts': oneValue,
  'server/features/import/session/spool.ts': 'a line at a time',
  'server/features/map/geocoder.ts': 'an answer of the geocoder',
  'server/features/map/tile-file.ts': 'the head of a file of the operator',
  'server/features/personal-data/named-texts.ts': 'a parameter',
  'server/features/sign-in/webauthn.ts': oneValue,
  'server/features/tables/table-rows.ts': oneValue,
  'server/features/visits/visit-request.ts': 'a cursor',
  'server/features/webhooks/events.ts': onePage,
};

async function findUnpaced(): Promise<string[]> {
  const files: string[] = [];
  for await (const file of glob('server/{features,engine,resources}/**/*.ts', { cwd: root })) {
    if (file.endsWith('.test.ts')) continue;
    const source = readFileSync(path.join(root, file), 'utf8');
    if (costly.test(source) && !paced.test(source)) files.push(file);
  }
  return files.sort();
}

const unpaced = await findUnpaced();

test('work on stored rows is paced, or has a reason not to be', () => {
  assert.deepEqual(
    unpaced.filter((file) => !(file in exceptions)),
    [],
  );
});

test('every exception is still one', () => {
  assert.deepEqual(
    Object.keys(exceptions).filter((file) => !unpaced.includes(file)),
    [],
  );
});
