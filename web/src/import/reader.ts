// The page's side of the worker that reads a file.
import type { ThousandsMark } from '../../../core/cells.ts';
import type { ComparedRow, RowChoices } from '../../../core/compared-rows.ts';
import type { ChosenColumns, LinePlan } from '../../../core/import-lines.ts';
import type { FileErrorCode, TableFile } from './table-file.ts';

/** Lines that are sent together, the rows that they come from, and how many rows have been read so far. */
export interface Chunk {
  body: string;
  rows: number[];
  read: number;
}

export type Question =
  | { kind: 'open'; file: Blob; pastedMark?: ThousandsMark; knownTitles: ReadonlySet<string> }
  | { kind: 'sheet'; name: string }
  | { kind: 'titleRow'; row: number }
  | { kind: 'names'; columns: ChosenColumns }
  | { kind: 'compare'; plan: LinePlan }
  | { kind: 'start'; plan: LinePlan; choices: RowChoices }
  | { kind: 'next' }
  | { kind: 'report'; columns: ChosenColumns; sentences: ReadonlyMap<number, string>; errorTitle: string };

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
    /** The names in each column that names objects and in how many rows they stand, by the column's path. */
    names: (columns: ChosenColumns) =>
      ask({ kind: 'names', columns }) as Promise<Map<string, Map<string, number>>>,
    /** What new rows are compared by. */
    compare: (plan: LinePlan) => ask({ kind: 'compare', plan }) as Promise<ComparedRow[]>,
    start: (plan: LinePlan, choices: RowChoices) => ask({ kind: 'start', plan, choices }),
    /** Undefined at the end of the file. */
    next: () => ask({ kind: 'next' }) as Promise<Chunk | undefined>,
    report: (columns: ChosenColumns, sentences: ReadonlyMap<number, string>, errorTitle: string) =>
      ask({ kind: 'report', columns, sentences, errorTitle }) as Promise<Blob>,
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
