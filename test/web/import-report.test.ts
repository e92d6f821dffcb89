import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guessColumns } from '../../core/table/columns.ts';
import { buildFactSearch } from '../../core/table/file-guesses.ts';
import { toLine } from '../../core/table/import-lines.ts';
import { writeReport } from '../../core/table/report.ts';
import { type OpenTable, openTable } from '../../core/table/table-file.ts';
import { dataRows, planLines } from '../../core/table/table-import.ts';
import { describeDefinition } from '../../server/engine/definition/description.ts';
import { resources } from '../../server/resources/index.ts';

const definitions = resources.map(describeDefinition);

async function plan(opened: OpenTable, type: string) {
  const definition = definitions.find(({ name }) => name === type)!;
  const columns = guessColumns(definition, opened.table.titles);
  const facts = buildFactSearch(columns);
  const rows = await Array.fromAsync(dataRows(opened));
  for (const { cells } of rows) facts.push(cells);
  return {
    rows,
    plan: planLines({ definition, columns, table: opened.table, facts: facts.end(), language: 'de' }),
  };
}

for (const [what, type, lines] of [
  [
    'zeros, signs of formulas and what only the other rows show',
    'customer',
    [
      'Kunde;Straße;Nr.;PLZ;Ort;Telefon;Bemerkung',
      'A;Weg;007;1067;Dresden;0351123456;=1+1',
      'B;Weg;="08";01069;Dresden;;_x000D_ & <b>"',
      'C;Weg;9;9111;Chemnitz;;',
    ],
  ],
  [
    'numbers with thousands, and months before days',
    'contract',
    [
      'Vertragsnummer;Kunde;Beginn;Art;Preis;Kündigungsfrist',
      '0001;A;3/4/2024;Pflege;1.250;3',
      '0002;A;12/31/2023;Pflege;1.250,5;3',
      '0003;A;3/5/2024;Pflege;123456789012345678;3',
    ],
  ],
] as const) {
  test(`a report keeps ${what}`, async () => {
    const opened = await openTable(new Blob([lines.join('\n')]));
    const { rows, plan: before } = await plan(opened, type);
    for (const row of rows) {
      const bytes = writeReport({
        ...{ plan: before, titles: opened.table.titles, rows: [row], language: 'de' },
        sentences: new Map([[row.number, 'Falsch.']]),
      });
      const report = await openTable(new Blob([bytes]));
      assert.deepEqual(report.table.titles, [...opened.table.titles, 'Fehler']);
      const again = await plan(report, type);
      assert.equal(again.rows.length, 1);
      assert.equal(toLine(again.plan, again.rows[0]!.cells), toLine(before, row.cells));
    }
  });
}
