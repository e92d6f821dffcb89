// Imports a file on this machine into the database, through the same engine as POST /import.

import { randomUUIDv7 } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type GuessKind, showGuess } from '../../core/table/cell-guesses.ts';
import type { ColumnGuess } from '../../core/table/file-guesses.ts';
import { type KnownNames, nameKey } from '../../core/table/import-lines.ts';
import { keyOfTitles, keyOfWord } from '../../core/table/remembered-choices.ts';
import type { NamedCell } from '../../core/table/table-import.ts';
import type { LeftOutRows } from '../../core/table/table-rows.ts';
import { type Database, openDatabase } from '../database/database.ts';
import { openServiceLogin } from '../database/service-login.ts';
import { prepareWriting } from '../engine/write/resource.ts';
import { UsageError } from '../errors.ts';
import {
  type CsvInput,
  inspectRows,
  planCsv,
  prepareCsv,
  readCsvLines,
} from '../features/import/csv/csv-input.ts';
import {
  type RejectedLines,
  reportName,
  writeCsvReport,
  writeLinesReport,
} from '../features/import/csv/error-report.ts';
import { runImport } from '../features/import/import-run.ts';
import { type ImportOptions, importModes } from '../features/import/line-writes.ts';
import { type Line, readLines } from '../features/import/lines.ts';
import type { LineResult, Summary } from '../features/import/results.ts';
import { buildImports } from '../features/import/session/import-transaction.ts';
import { findNames } from '../features/name-matches/name-search.ts';
import { findChoices } from '../features/name-matches/remembered-choices.ts';
import { resources } from '../resources/index.ts';
import { asOperator, type Command, type CommandContext, type Outcome, tenantIdFrom } from './command.ts';
import { startProgress } from './progress.ts';

const importCommand: Command = {
  name: 'import',
  summary:
    'Import a file, FILE.ndjson, FILE.csv or FILE.xlsx. Rejected rows go to FILE.errors.csv, to be corrected.',
  arguments: { file: 'The file. A table has a row of titles; "template" prints them.' },
  options: { tenant: 'Id of the tenant, as "tenant list" shows it.' },
  optionalOptions: {
    type: 'What the rows of a CSV are, if the titles do not tell: site, customer, …',
    mode: `${importModes.join(' or ')}: what a rejected row means for the others. "each" if absent.`,
  },
  flags: { 'dry-run': 'Check everything and store nothing.' },
  async run(context) {
    const { options, config } = context;
    const tenantId = tenantIdFrom(options);
    const { size } = await stat(options.file!).catch(() => {
      throw new UsageError(`There is no file ${options.file}.`);
    });
    return asOperator(config, async (owner, connection) => {
      const { rowCount } = await owner.query('SELECT FROM tenant WHERE tenant_id = $1', [tenantId]);
      if (rowCount === 0)
        throw new UsageError(`There is no tenant ${tenantId}. "tenant list" shows all of them.`);
      const { client } = await openServiceLogin(connection);
      const database = openDatabase(client, { maxConnections: 1 });
      try {
        const source = await prepareSource(context, database, tenantId);
        for (const title of source.csv?.unknownTitles ?? [])
          process.stderr.write(`The column "${title}" is not known and is ignored.\n`);
        const { summary, rejected } = await importSource(database, context, source, tenantId, size);
        if (rejected.size > 0) await source.writeReport(rejected);
        return describe(summary, context, source, rejected.size > 0);
      } finally {
        await database.close();
      }
    });
  },
};

export const commands: readonly Command[] = [importCommand];

interface Source {
  csv: CsvInput | undefined;
  /** Known when all rows have been read. */
  guesses?: ColumnGuess[];
  read(onBytes: (bytes: number) => void): AsyncIterable<Line[]>;
  writeReport(rejected: RejectedLines): Promise<void>;
}

async function prepareSource(
  { options, config }: CommandContext,
  database: Database,
  tenantId: string,
): Promise<Source> {
  const { file, type } = options as { file: string; type?: string };
  const { BODY_LIMIT_BYTES: maxLineBytes } = config;
  const wanted = resources.find(({ name }) => name === type);
  if (type !== undefined && !wanted) {
    throw new UsageError(
      `There is no type "${type}". Known are: ${resources.map(({ name }) => name).join(', ')}.`,
    );
  }
  if (/\.(csv|xlsx)$/i.test(file)) {
    const recall = async (titles: readonly string[]) => {
      const key = keyOfTitles(titles);
      return key === undefined ? undefined : (await findChoices(database, { tenantId }, [key]))[0];
    };
    const csv = await prepareCsv(file, resources, wanted, recall);
    const { names, words, facts } = await inspectRows(csv);
    const known = new Map([
      ...(await recallWords(database, tenantId, csv.definition.name, words)),
      ...(await resolveNames(database, tenantId, names)),
    ]);
    const plan = planCsv(csv, facts, known);
    const source: Source = {
      csv,
      read(onBytes) {
        csv.onBytes = onBytes;
        return readCsvLines(csv, plan, maxLineBytes, (guesses) => {
          source.guesses = guesses;
        });
      },
      writeReport: (rejected) => writeCsvReport(csv, rejected),
    };
    return source;
  }
  if (!/\.(ndjson|jsonl)$/i.test(file)) throw new UsageError(`${file} must end in .csv, .xlsx or .ndjson.`);
  return {
    csv: undefined,
    async *read(onBytes) {
      const input = createReadStream(file);
      for await (const lines of readLines(input, maxLineBytes)) {
        onBytes(input.bytesRead);
        yield lines;
      }
    },
    writeReport: (rejected) => writeLinesReport(file, maxLineBytes, rejected),
  };
}

const namesPerQuery = 200;

/** Meanings that the business chose for words of choices. */
async function recallWords(
  database: Database,
  tenantId: string,
  type: string,
  words: readonly NamedCell[],
): Promise<KnownNames> {
  const keys = words.map((word) => keyOfWord(type, word));
  const choices = await findChoices(database, { tenantId }, keys);
  return new Map(
    words.flatMap(({ column, name }, place) => {
      const choice = choices[place];
      return choice ? [[nameKey(column.path, name), choice === 'empty' ? choice : [choice]]] : [];
    }),
  );
}

/** The objects that the file calls by name. A name of none or of several stays a text, which validation rejects. */
async function resolveNames(
  database: Database,
  tenantId: string,
  cells: readonly NamedCell[],
): Promise<KnownNames> {
  const names = new Map<string, readonly string[]>();
  for (const [path, named] of Map.groupBy(cells, ({ column }) => column.path)) {
    for (const resource of named[0]!.column.field.reference!.resources) {
      const definition = resources.find(({ name }) => name === resource)!;
      for (let start = 0; start < named.length; start += namesPerQuery) {
        const some = named.slice(start, start + namesPerQuery);
        for (const match of await findNames({ database, resources, tenantId }, definition, some)) {
          const key = nameKey(path, match.name, match.owner);
          const ids = match.ids.length !== 1 && match.rememberedId ? [match.rememberedId] : match.ids;
          names.set(key, [...(names.get(key) ?? []), ...ids]);
        }
      }
    }
  }
  return names;
}

async function importSource(
  database: Database,
  { options, flags, config }: CommandContext,
  source: Source,
  tenantId: string,
  totalBytes: number,
): Promise<{ summary: Summary; rejected: RejectedLines }> {
  const mode = importModes.find((known) => known === (options.mode ?? 'each'));
  if (!mode) throw new UsageError(`--mode must be ${importModes.join(' or ')}.`);
  const importOptions: ImportOptions = {
    mode,
    isDryRun: flags.has('dry-run'),
    tenantId,
    author: { actor: 'command line', requestId: undefined },
    idempotencyKey: undefined,
    language: source.csv?.language ?? 'en',
    onError: (error) => process.stderr.write(`${(error as Error).message}\n`),
  };
  const rejected = new Map<number, LineResult['answer']>();
  let summary: Summary | undefined;
  const progress = startProgress(process.stderr, totalBytes);
  try {
    const isOneTransaction = mode === 'all-or-nothing' || importOptions.isDryRun;
    const { open } = buildImports(database, config, resources);
    const session = await open({
      tenantId,
      idempotencyKey: undefined,
      isOneTransaction,
      run: { id: randomUUIDv7(), author: importOptions.author },
    }).catch((error) => {
      if (error.code !== 'too_many_imports') throw error;
      throw new UsageError('Another import of this tenant is running. Try again when it has ended.');
    });
    const lines = source.read(progress.noteBytes);
    for await (const answers of runImport(session, prepareWriting(resources), lines, importOptions)) {
      for (const answer of answers) {
        if ('summary' in answer) ({ summary } = answer);
        else if (answer.outcome === 'failed') rejected.set(answer.answer.line, answer.answer);
      }
      const results = answers.filter((answer) => 'outcome' in answer);
      progress.noteRows(results.length, results.filter(({ outcome }) => outcome === 'failed').length);
    }
  } finally {
    progress.end();
  }
  return { summary: summary!, rejected };
}

function describe(
  summary: Summary,
  { options, flags }: CommandContext,
  { csv, guesses = [] }: Source,
  hasReport: boolean,
): Outcome {
  const { lines, created, replaced, unchanged, deleted, failed, notStored, unlistedErrors, code } = summary;
  const report = hasReport ? reportName(options.file!) : undefined;
  const isNothingStored = notStored > 0 || (failed > 0 && options.mode === 'all-or-nothing');
  const advice = isNothingStored
    ? `Nothing was stored. What is wrong stands in ${report}; correct it in ${options.file} and import that again.`
    : `The rejected rows are in ${report}. Correct them there and import that file.`;
  const leftOut = csv?.opened.table.leftOut;
  const text = [
    ...(csv?.remembered ? ['Columns are as chosen in the web app for these titles.'] : []),
    ...describeLeftOut(leftOut),
    ...guesses.map((guess) => describeGuess(csv!, guess)),
    `${flags.has('dry-run') ? 'Dry run, nothing was stored. ' : ''}${lines} rows: ${created} created, ${replaced} replaced, ${unchanged} unchanged, ${deleted > 0 ? `${deleted} deleted, ` : ''}${failed} failed${notStored > 0 ? `, ${notStored} not stored because of others` : ''}.`,
    ...(code ? [`The import ended early: ${code}.`] : []),
    ...(report ? [advice] : []),
    ...(unlistedErrors
      ? [`${unlistedErrors} more rejected rows are not in it, because there are too many.`]
      : []),
  ].join('\n');
  const ignoredColumns = csv?.unknownTitles;
  const leftOutRows = leftOut && [...leftOut.repeatedHead, ...leftOut.notData.map(({ number }) => number)];
  return {
    text,
    json: { ...summary, report, ignoredColumns, leftOutRows, guesses: csv && guesses },
    exitCode: failed > 0 || code ? 1 : 0,
  };
}

const listedRows = 5;

function describeLeftOut(
  { notData, repeatedHead }: LeftOutRows = { notData: [], repeatedHead: [] },
): string[] {
  const listed = repeatedHead.slice(0, listedRows).join(', ');
  const more = repeatedHead.length - listedRows;
  return [
    ...(repeatedHead.length > 0
      ? [`Rows that repeat the titles are left out: ${listed}${more > 0 ? ` and ${more} more` : ''}.`]
      : []),
    ...notData.map(({ number, cells }) => {
      const words = cells.filter((cell) => cell?.trim()).join(' · ');
      return `Row ${number} ("${words}") is not part of the data and is left out.`;
    }),
  ];
}

const guessWords: Record<GuessKind, string> = {
  zipZeros: 'Leading zeros added',
  phoneZeros: 'Leading zeros added',
  houseNumbers: 'House numbers that a spreadsheet took for dates',
  dates: 'Dates read',
  words: 'Words assigned',
  measures: 'Units converted',
  firstOnly: 'First of several values taken, the rest is in the comment',
  otherName: 'Found by the number or name beside it',
  placeholders: 'Read as empty',
  no: 'Empty read as no',
  comment: 'Not readable, kept in the comment',
  leftOut: 'Not readable, left empty',
};

function describeGuess(csv: CsvInput, { kind, path, count, examples }: ColumnGuess): string {
  const index = csv.columns.findIndex((column) => column?.path === path);
  const shown = examples
    .filter(({ from }) => from !== '')
    .map(({ from, to }) => {
      const read = showGuess(csv.columns[index]!, to, csv.language);
      return read === '' ? `"${from}"` : `"${from}" → "${read}"`;
    });
  return `${guessWords[kind]} in "${csv.opened.table.titles[index]}": ${count}${shown.length > 0 ? `, such as ${shown.join(', ')}` : ''}.`;
}
