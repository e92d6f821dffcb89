// The page's side of the worker that reads a file.
import type { FileFacts } from '../../../core/table/cell-guesses.ts';
import type { ThousandsMark } from '../../../core/table/cells.ts';
import type { ComparedRow, RowChoices } from '../../../core/table/compared-rows.ts';
import type { CsvRow } from '../../../core/table/csv/csv-file.ts';
import type { ColumnGuess } from '../../../core/table/file-guesses.ts';
import type { ChosenColumns, LinePlan } from '../../../core/table/import-lines.ts';
import type { FileErrorCode, TableFile } from '../../../core/table/table-file.ts';
import type { NamedCell } from '../../../core/table/table-import.ts';

/** Lines that are sent together, and the rows that they come from. */
export interface Chunk {
  body: string;
  rows: number[];
  /** Rows without data, or that a person leaves out. */
  leftOut: number[];
  /** Rows with a cell that is read in another way than it is written. */
  hinted: number[];
  /** By row, the references for which it names two objects. */
  contradictions: Map<number, readonly string[]>;
  /** Number of rows that have been read so far. */
  read: number;
}

/** Some rows of the file: the first ones and those that a person edited, or those with these numbers. */
export interface Part {
  first?: number;
  withEdits?: boolean;
  numbers?: readonly number[];
}

/** Facts that only the whole file reveals: its names and words, and how its cells are written. */
export interface Inspection {
  names: NamedCell[];
  facts: FileFacts;
}

export type Question =
  | { kind: 'open'; file: Blob; pastedMark?: ThousandsMark; knownTitles: ReadonlySet<string> }
  | { kind: 'sheet'; name: string }
  | { kind: 'titleRow'; row: number }
  | { kind: 'rows'; part: Part }
  | { kind: 'edit'; row: number; index: number; text: string }
  | { kind: 'inspect'; columns: ChosenColumns }
  | { kind: 'guesses'; plan: LinePlan }
  | { kind: 'compare'; plan: LinePlan; part: Part | undefined }
  | { kind: 'start'; plan: LinePlan; choices: RowChoices; part: Part | undefined }
  | { kind: 'next'; reading: number }
  | { kind: 'report'; plan: LinePlan; sentences: ReadonlyMap<number, string>; language: 'de' | 'en' };

export type Answer = { id: number } & ({ value: unknown } | { code: FileErrorCode | 'unreadable' });

export class ReadingError extends Error {
  readonly code: FileErrorCode | 'unreadable';
  constructor(code: FileErrorCode | 'unreadable') {
    super(code);
    this.code = code;
  }
}

export type Reader = ReturnType<typeof openReader>;

export function openReader() {
  const worker = new Worker(new URL('./reader-worker.ts', import.meta.url), { type: 'module' });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;

  worker.onmessage = ({ data }: MessageEvent<Answer>) => {
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if ('code' in data) asked?.reject(new ReadingError(data.code));
    else asked?.resolve(data.value);
  };
  worker.onerror = () => {
    for (const { reject } of waiting.values()) reject(new ReadingError('unreadable'));
    waiting.clear();
  };

  function ask(question: Question): Promise<unknown> {
    lastId += 1;
    const asked = Promise.withResolvers<unknown>();
    waiting.set(lastId, asked);
    worker.postMessage({ id: lastId, question });
    return asked.promise;
  }

  return {
    open: (file: Blob, knownTitles: ReadonlySet<string>, pastedMark?: ThousandsMark) =>
      ask({ kind: 'open', file, pastedMark, knownTitles }) as Promise<TableFile>,
    chooseSheet: (name: string) => ask({ kind: 'sheet', name }) as Promise<TableFile>,
    chooseTitleRow: (row: number) => ask({ kind: 'titleRow', row }) as Promise<TableFile>,
    rows: (part: Part) => ask({ kind: 'rows', part }) as Promise<CsvRow[]>,
    /** From now on, everything is read with this text in the cell. */
    edit: (row: number, index: number, text: string) => ask({ kind: 'edit', row, index, text }),
    inspect: (columns: ChosenColumns) => ask({ kind: 'inspect', columns }) as Promise<Inspection>,
    /** Lists what the plan reads differently than written. */
    guesses: (plan: LinePlan) => ask({ kind: 'guesses', plan }) as Promise<ColumnGuess[]>,
    /** Returns the values by which new rows are compared. */
    compare: (plan: LinePlan, part?: Part) => ask({ kind: 'compare', plan, part }) as Promise<ComparedRow[]>,
    /** The lines of the rows, some at a time. */
    async *chunks(plan: LinePlan, choices: RowChoices, part?: Part): AsyncGenerator<Chunk> {
      const reading = (await ask({ kind: 'start', plan, choices, part })) as number;
      for (;;) {
        const chunk = (await ask({ kind: 'next', reading })) as Chunk | undefined;
        if (!chunk) return;
        yield chunk;
      }
    },
    report: (plan: LinePlan, sentences: ReadonlyMap<number, string>, language: 'de' | 'en') =>
      ask({ kind: 'report', plan, sentences, language }) as Promise<Uint8Array<ArrayBuffer>>,
    close: () => worker.terminate(),
  };
}

/** A file that was chosen, with the worker that reads it. */
export interface OpenedFile {
  name: string;
  size: number;
  table: TableFile;
  reader: Reader;
}
