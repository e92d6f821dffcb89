// The words after `npm run bench --`.
import path from 'node:path';
import { parseArgs } from 'node:util';

export interface Options {
  scenarios: string[];
  /** How often each measurement of a comparison is taken, and how long each takes. */
  rounds: number;
  seconds: number;
  warmUpSeconds: number;
  /** Of full load. */
  connections: number;
  /** Lines of the import whose memory is watched. */
  lines: number;
  /** Sites of the largest table. */
  sites: number;
  /** Length of the soak, and its requests per second. */
  minutes: number;
  soakRate: number;
  /** Another service with the same path, headers and bodies. */
  peer: { origin: string; key: string } | undefined;
  resultsDir: string;
  /** Short rounds, to try things out. */
  isQuick: boolean;
}

export const usage = `Usage: npm run bench -- [SCENARIO …] [OPTIONS]

  --quick             short rounds; results go to bench/runs/quick
  --rounds N          rounds of each comparison (3)
  --seconds N         length of a round (10; quick: 3)
  --warm-up N         seconds before the first round (10; quick: 5)
  --connections N     connections of full load (64)
  --lines N           import: lines whose memory is watched (200,000; quick: 20,000)
  --sites N           growth: sites of the largest table (10,000,000; quick: 100,000)
  --minutes N         soak: its length (60; quick: 2)
  --rate N            soak: requests per second (100)
  --peer ADDRESS      creation: measure the same work there too, such as http://127.0.0.1:8080
  --peer-key KEY      the ApiKey for it
  --results FOLDER    where results are written (bench/runs/last)`;

export class UsageError extends Error {}

export function readOptions(
  words: string[],
  scenarioNames: readonly string[],
  usualNames: readonly string[],
): Options | 'help' {
  const { values, positionals } = parse(words);
  if (values.help) return 'help';
  const unknown = positionals.find((name) => !scenarioNames.includes(name));
  if (unknown) throw new UsageError(`There is no scenario "${unknown}", only ${scenarioNames.join(', ')}.`);
  const isQuick = values.quick === true;
  const number = (
    name: 'rounds' | 'seconds' | 'warm-up' | 'connections' | 'lines' | 'sites' | 'minutes' | 'rate',
    usual: number,
    most: number,
  ) => {
    const value = Number(values[name] ?? usual);
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw new UsageError(`--${name} must be a whole number from 1 to ${most}.`);
  };
  return {
    scenarios: positionals.length > 0 ? positionals : [...usualNames],
    rounds: number('rounds', 3, 100),
    seconds: number('seconds', isQuick ? 3 : 10, 600),
    warmUpSeconds: number('warm-up', isQuick ? 5 : 10, 600),
    connections: number('connections', 64, 64),
    lines: number('lines', isQuick ? 20_000 : 200_000, 100_000_000),
    sites: number('sites', isQuick ? 100_000 : 10_000_000, 1_000_000_000),
    minutes: number('minutes', isQuick ? 2 : 60, 10_000),
    soakRate: number('rate', 100, 10_000),
    peer: values.peer ? { origin: new URL(values.peer).origin, key: values['peer-key'] ?? '' } : undefined,
    resultsDir: path.resolve(values.results ?? defaultResults(isQuick)),
    isQuick,
  };
}

function defaultResults(isQuick: boolean): string {
  return path.join(import.meta.dirname, isQuick ? 'runs/quick' : 'runs/last');
}

function parse(words: string[]) {
  try {
    return parseArgs({
      args: words,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        quick: { type: 'boolean' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        'warm-up': { type: 'string' },
        connections: { type: 'string' },
        lines: { type: 'string' },
        sites: { type: 'string' },
        minutes: { type: 'string' },
        rate: { type: 'string' },
        peer: { type: 'string' },
        'peer-key': { type: 'string' },
        results: { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
