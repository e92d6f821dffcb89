// Medians, percentiles and ratios, and how they are written.

/** Latencies in milliseconds. */
export interface Latency {
  count: number;
  p50: number;
  p99: number;
  max: number;
}

export function summarize(milliseconds: readonly number[]): Latency {
  const sorted = Float64Array.from(milliseconds).sort();
  return {
    count: sorted.length,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    max: sorted.at(-1) ?? 0,
  };
}

/** The smallest value that at least this share of all values does not exceed. */
function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Of several rounds, each figure for itself. */
export function medianLatency(rounds: readonly Latency[]): Latency {
  const of = (figure: keyof Latency) => median(rounds.map((round) => round[figure]));
  return { count: of('count'), p50: of('p50'), p99: of('p99'), max: of('max') };
}

/** What several rounds gave. */
export interface Spread {
  median: number;
  min: number;
  max: number;
  rounds: readonly number[];
}

export function spreadOf(rounds: readonly number[]): Spread {
  return { median: median(rounds), min: Math.min(...rounds), max: Math.max(...rounds), rounds };
}

/** Round by round, because the two of a round met the same machine: other work counts for both. */
export function ratiosOf(measured: Spread, reference: Spread): Spread {
  return spreadOf(measured.rounds.map((value, round) => value / reference.rounds[round]!));
}

export function formatRate(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function formatRateSpread({ median, min, max }: Spread): string {
  return `${formatRate(median)} (${formatRate(min)}–${formatRate(max)})`;
}

/** What could not be measured is NaN. */
const unknown = '–';

export function formatRatio(value: number): string {
  return Number.isNaN(value) ? unknown : `${value.toFixed(2)} ×`;
}

export function formatRatioSpread({ median, min, max }: Spread): string {
  return `${formatRatio(median)} (${min.toFixed(2)}–${max.toFixed(2)})`;
}

export function formatPercent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

export function formatMs(value: number): string {
  if (Number.isNaN(value)) return unknown;
  return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : Math.round(value)} ms`;
}

export function formatMb(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`;
}
