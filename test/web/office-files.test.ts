// Files as offices and their programs write them: each is understood without a click.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { openAsBlob, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { allTitles, guessColumns, guessDefinition } from '../../core/table/columns.ts';
import { buildFactSearch, buildGuessSearch } from '../../core/table/file-guesses.ts';
import { holdsData, nameKey, toLine } from '../../core/table/import-lines.ts';
import { openTable } from '../../core/table/table-file.ts';
import { buildNameSearch, dataRows, planLines } from '../../core/table/table-import.ts';
import { describeDefinition } from '../../server/engine/definition/description.ts';
import { prepareWriting } from '../../server/engine/write/resource.ts';
import { buildLineCheck } from '../../server/features/import/line-check.ts';
import { resources } from '../../server/resources/index.ts';

const folder = path.resolve(import.meta.dirname, '../office-files');
const definitions = resources.map(describeDefinition);
const checkLine = buildLineCheck(prepareWriting(resources).resources);

/** Stands for the object that a file calls so. */
function standIn(name: string): string {
  const digits = createHash('sha256').update(name).digest('hex');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}

async function understand(file: string) {
  const opened = await openTable(await openAsBlob(path.join(folder, file)), {
    knownTitles: allTitles(definitions),
  });
  const { table } = opened;
  const definition = guessDefinition(definitions, table.titles)!;
  const columns = guessColumns(definition, table.titles);
  const [facts, names] = [buildFactSearch(columns), buildNameSearch(columns)];
  for await (const { cells } of dataRows(opened)) {
    facts.push(cells);
    names.push(cells);
  }
  // Here, a number and a name would always be two objects.
  const named = names.end().filter(({ column, rows }) => column.namedPath && rows > 0);
  const labelOf = new Map(
    named.map(({ name, owner }) => {
      const label = owner ? `${name} of ${owner}` : name;
      return [standIn(label), `→ ${label}`];
    }),
  );
  const plan = planLines({
    ...{ definition, columns, table, language: 'de', facts: facts.end() },
    names: new Map(
      named.map(({ column, name, owner }) => [
        nameKey(column.path, name, owner),
        [standIn(owner ? `${name} of ${owner}` : name)],
      ]),
    ),
  });
  const guesses = buildGuessSearch(plan);
  const objects: unknown[] = [];
  const errors: unknown[] = [];
  for await (const { number, cells } of dataRows(opened)) {
    if (!holdsData(columns, cells)) continue;
    guesses.push(cells);
    const text = toLine(plan, cells);
    const line = checkLine({ number, bytes: Buffer.from(text) });
    if ('error' in line) errors.push([number, line.error.code]);
    else if (line.checked.fieldErrors.length > 0) errors.push([number, line.checked.fieldErrors]);
    objects.push(JSON.parse(text, (_, value) => labelOf.get(value) ?? value).data);
  }
  return {
    errors,
    found: {
      resource: definition.name,
      columns: Object.fromEntries(
        columns.map((column, index) => [table.titles[index]!, column?.path ?? null]),
      ),
      leftOut: table.leftOut.notData.map(({ cells }) => cells.filter(Boolean).join(' · ')),
      guesses: guesses
        .end()
        .map(({ kind, path, count, examples }) =>
          [kind, path, count, ...examples.map(({ from, to }) => `${from} → ${to}`)].join(' | '),
        ),
      objects,
    },
  };
}

describe('a file of an office is understood at the first try', () => {
  const files = readdirSync(folder).filter((name) => /\.(csv|xlsx)$/.test(name));
  assert.ok(files.length >= 12);
  for (const file of files) {
    test(file, async () => {
      const { found, errors } = await understand(file);
      const expected = path.join(folder, `${file.replace(/\.\w+$/, '')}.json`);
      if (process.env.UPDATE_OFFICE_FILES)
        writeFileSync(expected, `${JSON.stringify(found, undefined, 2)}\n`);
      assert.ok(errors.length <= found.objects.length * 0.05, JSON.stringify(errors, undefined, 1));
      assert.deepEqual(found, JSON.parse(readFileSync(expected, 'utf8')));
    });
  }
});
