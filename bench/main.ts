// npm run bench: runs scenarios one after the other on one PostgreSQL, and writes what they found.
import { describeMachine } from './machine.ts';
import { type Options, readOptions, UsageError, usage } from './options.ts';
import { startPostgres } from './postgres.ts';
import { endOnSignals, isInterrupted, runScoped } from './processes.ts';
import { type Section, writeResults, writeTable } from './report.ts';
import type { Outcome, Scenario } from './scenario.ts';
import { cost } from './scenarios/cost.ts';
import { creation } from './scenarios/creation.ts';
import { fairness } from './scenarios/fairness.ts';
import { growth } from './scenarios/growth.ts';
import { importing } from './scenarios/import.ts';
import { office } from './scenarios/office.ts';
import { overload } from './scenarios/overload.ts';
import { reads } from './scenarios/reads.ts';
import { soak } from './scenarios/soak.ts';
import { upserts } from './scenarios/upserts.ts';
import { visits } from './scenarios/visits.ts';
import { watchStolenTime } from './stolen-time.ts';

const scenarios: readonly Scenario[] = [
  creation,
  upserts,
  importing,
  reads,
  visits,
  cost,
  growth,
  office,
  overload,
  fairness,
  soak,
];
const names = scenarios.map(({ name }) => name);
const usual = scenarios.filter(({ isOnRequest }) => !isOnRequest).map(({ name }) => name);

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Answers whether all of them came to their end. One that fails is no reason to leave the others out. */
async function runScenarios(options: Options): Promise<boolean> {
  const postgres = await startPostgres();
  const machine = describeMachine(postgres.version);
  say(`${machine.cores} cores of ${machine.processor}, ${machine.memory}, PostgreSQL ${machine.postgres}`);
  let isComplete = true;
  for (const { name, title, measure } of scenarios) {
    if (!options.scenarios.includes(name)) continue;
    say(`\n# ${title}`);
    const readStolenTime = watchStolenTime();
    try {
      const outcome = await runScoped(() => measure({ options, postgres, say }));
      const { rounds, seconds } = options;
      const measuredAt = new Date().toISOString();
      const conditions = { measuredAt, machine, stolenTime: readStolenTime(), rounds, seconds };
      const section: Section = { scenario: name, title, ...conditions, ...outcome };
      await writeResults(options.resultsDir, section, names);
      sayOutcome(outcome);
    } catch (error) {
      isComplete = false;
      if (isInterrupted()) break;
      process.stderr.write(`FAILED ${name}: ${(error as Error).stack}\n`);
    }
  }
  say(`\nWritten to ${options.resultsDir}`);
  return isComplete;
}

function sayOutcome({ tables, goals, notes }: Outcome): void {
  say('');
  for (const table of tables) say(writeTable(table));
  for (const { wanted, measured, isMet } of goals)
    say(`${isMet ? 'met    ' : 'MISSED '} ${wanted}: ${measured}`);
  for (const note of notes) say(`- ${note}`);
}

try {
  const options = readOptions(process.argv.slice(2), names, usual);
  if (options === 'help')
    say(
      `${usage}\n\nScenarios: ${names.join(', ')}; without a name all but ${names.filter((name) => !usual.includes(name)).join(', ')}.`,
    );
  else {
    endOnSignals();
    const isComplete = await runScoped(() => runScenarios(options));
    if (!isComplete) process.exitCode = 1;
  }
} catch (error) {
  process.stderr.write(`${error instanceof UsageError ? error.message : (error as Error).stack}\n`);
  process.exitCode = 1;
}
