// Nodes of the previous version serve with the new schema: a migration that takes something away must say so.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { readMigrations } from '../server/database/migrations/migration-files.ts';

const baseline = '0001-baseline.sql';

const contractions: Record<string, RegExp> = {
  'DROP TABLE': /\bDROP\s+TABLE\b/i,
  'DROP COLUMN':
    /\bDROP\s+(?:COLUMN\b|(?!TABLE|INDEX|FUNCTION|TRIGGER|POLICY|CONSTRAINT|DEFAULT|NOT|VIEW|TYPE|IF)\w+\s*[,;])/i,
  'DROP FUNCTION': /\bDROP\s+(?:FUNCTION|VIEW|TYPE)\b/i,
  RENAME: /\bRENAME\b/i,
  'ALTER TYPE': /\bALTER\s+(?:COLUMN\s+)?\w+\s+(?:SET\s+DATA\s+)?TYPE\b|\bALTER\s+TYPE\b/i,
};

/** `SET NOT NULL` of these columns needs no scan and meets no null: a check constraint was validated before. */
function checkedColumns(sql: string): string[] {
  const checks = [
    ...sql.matchAll(/CONSTRAINT\s+(\w+)\s+CHECK\s*\(\s*(\w+)\s+IS\s+NOT\s+NULL\s*\)\s*NOT\s+VALID/gi),
  ];
  return checks
    .filter(([, name]) => new RegExp(`VALIDATE\\s+CONSTRAINT\\s+${name}\\b`, 'i').test(sql))
    .map(([, , column]) => column!);
}

/** `all` is the SQL of this migration and of those before it. */
function findContractions(sql: string, all: string): string[] {
  if (/^-- contract: \S/m.test(sql)) return [];
  const statements = withoutCommentsAndTexts(sql);
  const found = Object.keys(contractions).filter((name) => contractions[name]!.test(statements));
  const checked = checkedColumns(withoutCommentsAndTexts(all));
  const unchecked = [...statements.matchAll(/ALTER\s+(?:COLUMN\s+)?(\w+)\s+SET\s+NOT\s+NULL/gi)].filter(
    ([, column]) => !checked.includes(column!),
  );
  return unchecked.length > 0 ? [...found, 'SET NOT NULL'] : found;
}

/** Bodies of functions too: what they do when they run is not what the migration does. */
function withoutCommentsAndTexts(sql: string): string {
  return sql
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .replace(/--.*$/gm, '')
    .replace(/'(?:[^']|'')*'/g, "''");
}

test('no migration takes away what nodes of the previous version use, unless it says why', async () => {
  const migrations = await readMigrations(path.resolve(import.meta.dirname, '../migrations'));
  assert.equal(migrations[0]!.name, baseline);
  let all = '';
  for (const { name, sql } of migrations) {
    all += sql;
    if (name === baseline) continue;
    const found = findContractions(sql, all);
    assert.deepEqual(found, [], `${name}: docs/migrations.md, "Expand, migrate, contract"`);
  }
});

const cases: [sql: string, found: string[]][] = [
  ['ALTER TABLE site ADD COLUMN colour text;', []],
  ['DROP INDEX CONCURRENTLY IF EXISTS site_colour;', []],
  ['ALTER TABLE site ALTER colour DROP NOT NULL, ALTER size DROP DEFAULT;', []],
  ["COMMENT ON TABLE site IS 'DROP TABLE; it''s a RENAME'; -- DROP TABLE site", []],
  ['CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ DROP TABLE site $$;', []],
  ['drop table if exists site;', ['DROP TABLE']],
  ['ALTER TABLE site DROP COLUMN colour;', ['DROP COLUMN']],
  ['ALTER TABLE site DROP colour;', ['DROP COLUMN']],
  ['DROP FUNCTION search(uuid);', ['DROP FUNCTION']],
  ['ALTER TABLE site RENAME COLUMN colour TO color;', ['RENAME']],
  ['ALTER TABLE site ALTER COLUMN size TYPE bigint;', ['ALTER TYPE']],
  ['ALTER TABLE site ALTER size SET DATA TYPE bigint;', ['ALTER TYPE']],
  ['ALTER TABLE site ALTER COLUMN size SET NOT NULL;', ['SET NOT NULL']],
  [
    `ALTER TABLE site ADD CONSTRAINT has_size CHECK (size IS NOT NULL) NOT VALID;
     ALTER TABLE site VALIDATE CONSTRAINT has_size; ALTER TABLE site ALTER COLUMN size SET NOT NULL;`,
    [],
  ],
  [
    `ALTER TABLE site ADD CONSTRAINT has_size CHECK (size IS NOT NULL) NOT VALID;
     ALTER TABLE site ALTER COLUMN size SET NOT NULL;`,
    ['SET NOT NULL'],
  ],
  ['-- contract: no node reads it since 0031\nDROP TABLE site;', []],
  ['-- contract:\nDROP TABLE site;', ['DROP TABLE']],
];
for (const [sql, found] of cases) {
  test(`${found.join() || 'nothing'} is found in ${JSON.stringify(sql)}`, () => {
    assert.deepEqual(findContractions(sql, sql), found);
  });
}
