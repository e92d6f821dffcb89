// What a scenario is given, and what it hands back.
import type { Options } from './options.ts';
import type { Postgres } from './postgres.ts';

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

/** Bars of one unit; low and high are those of the rounds. */
export interface Chart {
  title: string;
  unit: string;
  bars: { label: string; value: number; low?: number; high?: number }[];
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
  /** What a reader has to know beside the figures: programs that were used or missing, what is not comparable. */
  notes: string[];
  /** Everything that was measured, for programs. */
  figures: Record<string, unknown>;
}

export interface Scenario {
  name: string;
  title: string;
  measure(bench: Bench): Promise<Outcome>;
}
