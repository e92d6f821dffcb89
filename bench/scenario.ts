// What a scenario is given, and what it hands back.
import type { Options } from './options.ts';
import type { Postgres } from './postgres.ts';
import type { Spread } from './statistics.ts';

export interface Bench {
  options: Options;
  postgres: Postgres;
  /** Tells the person at the terminal what goes on. */
  say(text: string): void;
}

export interface Table {
  columns: string[];
  rows: string[][];
}

export interface Bar {
  label: string;
  value: number;
  /** The smallest and the largest of the rounds. */
  low?: number;
  high?: number;
  /** Something to compare with, and not ours. */
  isReference?: boolean;
}

/** Bars of one unit. */
export interface Chart {
  title: string;
  unit: string;
  bars: Bar[];
}

/** A bar for each of several rates; ours begin with our name. */
export function barsOf(rates: ReadonlyMap<string, Spread>): Bar[] {
  return [...rates].map(([label, { median, min, max }]) => ({
    ...{ label, value: median, low: min, high: max },
    isReference: !label.startsWith('Stamm'),
  }));
}

/** What was wanted, and whether it is so. */
export interface Goal {
  wanted: string;
  measured: string;
  isMet: boolean;
}

export interface Outcome {
  tables: Table[];
  charts: Chart[];
  goals: Goal[];
  /** Notes for the reader beside the figures: programs used or missing, and limits of the comparison. */
  notes: string[];
  /** Everything that was measured, for programs. */
  figures: Record<string, unknown>;
}

export interface Scenario {
  name: string;
  title: string;
  /** Takes so long that it runs only if it is named. */
  isOnRequest?: boolean;
  measure(bench: Bench): Promise<Outcome>;
}
