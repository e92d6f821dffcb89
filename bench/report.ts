// Results as files: all figures as JSON, tables as Markdown, charts as SVG.
// A run of some scenarios keeps what earlier runs found for the others.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
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
  rounds: number;
  seconds: number;
}

interface Results {
  sections: Section[];
}

/** Sections stand in the order of `order`, whenever they were measured. */
export async function writeResults(
  resultsDir: string,
  section: Section,
  order: readonly string[],
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
    ...describeStolenTime(section),
    `- ${measuredAt.slice(0, 10)}, commit ${machine.commit}: ${machine.cores} cores of ${machine.processor}, ${machine.memory}, ${machine.system}, Node ${machine.node}, PostgreSQL ${machine.postgres}; ${rounds} rounds of ${seconds} s.`,
    '',
  ].join('\n');
}

function describeStolenTime({ stolenTime }: Section): string[] {
  return stolenTime === undefined
    ? []
    : [`- The host gave ${(stolenTime * 100).toFixed(1)} % of the processors' time to others.`];
}

export function writeTable({ columns, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = columns.map((_, index) => (index === 0 ? '---' : '---:'));
  return [line(columns), line(rule), ...rows.map(line), ''].join('\n');
}
