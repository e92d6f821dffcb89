// npm run bench: runs scenarios one after the other on one PostgreSQL, and writes what they found.
import { describeMachine } from './machine.ts';
import { type Options, readOptions, UsageError, usage } from './options.ts';
import { startPostgres } from './postgres.ts';
import { endOnSignals, runScoped } from './processes.ts';
import { type Section, writeResults, writeTable } from './report.ts';
import type { Outcome, Scenario } from './scenario.ts';
import { cost } from './scenarios/cost.ts';
import { creation } from './scenarios/creation.ts';
import { growth } from './scenarios/growth.ts';
import { importing } from './scenarios/import.ts';
import { nodes } from './scenarios/nodes.ts';
import { overload } from './scenarios/overload.ts';
import { reads } from './scenarios/reads.ts';

const scenarios: readonly Scenario[] = [creation, importing, reads, growth, overload, cost, nodes];
const names = scenarios.map(({ name }) => name);

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function runScenarios(options: Options): Promise<void> {
  const postgres = await startPostgres();
  const machine = describeMachine(postgres.version);
  say(`${machine.cores} cores of ${machine.processor}, ${machine.memory}, PostgreSQL ${machine.postgres}`);
  for (const { name, title, measure } of scenarios) {
    if (!options.scenarios.includes(name)) continue;
    say(`\n# ${title}`);
    const outcome = await runScoped(() => measure({ options, postgres, say }));
    const { rounds, seconds } = options;
    const measuredAt = new Date().toISOString();
    const section: Section = { scenario: name, title, measuredAt, machine, rounds, seconds, ...outcome };
    // After each, so that what was measured is there even if a later one fails.
    await writeResults(options.resultsDir, [section], names, isForDocumentation(options));
    sayOutcome(outcome);
  }
  say(`\nWritten to ${options.resultsDir}`);
}

/** Rounds of another length, or of another place, are for trying things out. */
function isForDocumentation({ isQuick, resultsDir }: Options): boolean {
  return !isQuick && resultsDir === `${import.meta.dirname}/results`;
}

function sayOutcome({ tables, goals, notes }: Outcome): void {
  say('');
  for (const table of tables) say(writeTable(table));
  for (const { wanted, measured, isMet } of goals)
    say(`${isMet ? 'met    ' : 'MISSED '} ${wanted}: ${measured}`);
  for (const note of notes) say(`- ${note}`);
}

try {
  const options = readOptions(process.argv.slice(2), names);
  if (options === 'help') say(`${usage}\n\nScenarios: ${names.join(', ')}; all of them without a name.`);
  else {
    endOnSignals();
    await runScoped(() => runScenarios(options));
  }
} catch (error) {
  process.stderr.write(`${error instanceof UsageError ? error.message : (error as Error).stack}\n`);
  process.exitCode = 1;
}
