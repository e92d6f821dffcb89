// Results as files: all figures as JSON, tables as Markdown, charts as SVG, and the tables once more in the documentation.
// A run of some scenarios keeps what earlier runs found for the others.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Machine } from './machine.ts';
import { drawCharts } from './plot.ts';
import type { Outcome, Table } from './scenario.ts';

export interface Section extends Outcome {
  scenario: string;
  title: string;
  measuredAt: string;
  machine: Machine;
  /** The share of the processors' time that the host gave to others while this was measured. */
  stolenTime?: number | undefined;
  /** How long it was waited for others to give the processors back. */
  waitedSeconds?: number;
  rounds: number;
  seconds: number;
}

interface Results {
  sections: Section[];
}

const documentation = path.resolve(import.meta.dirname, '../docs/performance.md');
const beginMark = '<!-- results: written by npm run bench -->';
const endMark = '<!-- end of results -->';

/** Sections stand in the order of `order`, whenever they were measured. */
export async function writeResults(
  resultsDir: string,
  section: Section,
  order: readonly string[],
  isForDocumentation: boolean,
): Promise<void> {
  await mkdir(resultsDir, { recursive: true });
  const file = path.join(resultsDir, 'latest.json');
  const earlier: Results = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { sections: [] };
  const known = new Map([...earlier.sections, section].map((one) => [one.scenario, one]));
  const all = order.map((name) => known.get(name)).filter((one) => one !== undefined);
  const text = writeMarkdown(all);
  await writeFile(file, `${JSON.stringify({ sections: all }, null, 2)}\n`);
  await writeFile(path.join(resultsDir, 'latest.md'), `# Results\n\n${text}`);
  await writeFile(path.join(resultsDir, 'latest.svg'), drawCharts(all.flatMap(({ charts }) => charts)));
  if (isForDocumentation) await updateDocumentation(text);
}

async function updateDocumentation(text: string): Promise<void> {
  const page = await readFile(documentation, 'utf8');
  const begin = page.indexOf(beginMark);
  const end = page.indexOf(endMark);
  if (begin < 0 || end < begin)
    throw new Error(`docs/performance.md has lost its marks "${beginMark}" and "${endMark}".`);
  const updated = `${page.slice(0, begin)}${beginMark}\n\n${text}\n${page.slice(end)}`;
  await writeFile(documentation, updated);
}

function writeMarkdown(sections: readonly Section[]): string {
  return sections.map(writeSection).join('\n');
}

function writeSection(section: Section): string {
  const { machine, measuredAt, rounds, seconds } = section;
  const goals: Table = {
    columns: ['Wanted', 'Measured', ''],
    rows: section.goals.map(({ wanted, measured, isMet }) => [wanted, measured, isMet ? 'yes' : '**no**']),
  };
  return [
    `### ${section.title}\n`,
    ...section.tables.map(writeTable),
    ...(goals.rows.length > 0 ? [writeTable(goals)] : []),
    ...section.notes.map((note) => `- ${note}`),
    ...describeDisturbances(section),
    `- ${measuredAt.slice(0, 10)}, commit ${machine.commit}: ${machine.cores} cores of ${machine.processor}, ${machine.memory}, ${machine.system}, Node ${machine.node}, PostgreSQL ${machine.postgres}; ${rounds} rounds of ${seconds} s.`,
    '',
  ].join('\n');
}

function describeDisturbances({ machine, stolenTime, waitedSeconds }: Section): string[] {
  const tenths = (share: number) => `${(share * 100).toFixed(1)} %`;
  const lines: string[] = [];
  if (machine.slowTime !== undefined)
    lines.push(
      `- The processors of this machine did less than a third of their usual work for ${tenths(machine.slowTime)} of the time, before anything ran on it.`,
    );
  if (stolenTime !== undefined)
    lines.push(`- While this was measured, the host gave ${tenths(stolenTime)} of their time to others.`);
  if (waitedSeconds) lines.push(`- Rounds waited ${waitedSeconds} s for the host to give them back.`);
  return lines;
}

export function writeTable({ columns, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = columns.map((_, index) => (index === 0 ? '---' : '---:'));
  return [line(columns), line(rule), ...rows.map(line), ''].join('\n');
}
