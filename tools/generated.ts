// Writes the generated files, or with --check fails if the committed ones are stale. "migration NAME" prints the table
// of a resource.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { generateTypes, isCurrent } from '../client/generate.ts';
import { buildApp } from '../server/app/app.ts';
import { readConfig, settings } from '../server/config.ts';
import { openDatabase } from '../server/database/database.ts';
import { openEmbeddedPostgres } from '../server/database/embedded/postgres.ts';
import { migrate } from '../server/database/migrations/migrations.ts';
import { openapiDocument } from '../server/features/reference/openapi-document.ts';
import { resources } from '../server/resources/index.ts';
import { errorCodesDocument } from './error-codes-document.ts';
import { holidayTable, isHolidayTableCurrent } from './holidays.ts';
import { migrationSkeleton } from './migration-skeleton.ts';
import { schemaDocument } from './schema-document.ts';
import { statementsDocument } from './statements-document.ts';

const root = path.resolve(import.meta.dirname, '..');

async function apiDocument(): Promise<string> {
  // The document needs the routes and no connection: the pool opens none before its first query.
  const app = await buildApp(
    readConfig({}),
    openDatabase({}, { maxConnections: 2 }),
    pino({ level: 'silent' }),
  );
  await app.ready();
  const document = writeDocument(openapiDocument(app));
  await app.close();
  return document;
}

/** A reference, or a list of one, takes one line: a new resource brings hundreds of them. */
function writeDocument(document: object): string {
  const indented = JSON.stringify(document, undefined, 2);
  const short = indented
    .replace(/\{\n *("[^"\n]*": "[^"\n]*")\n *\}/g, '{ $1 }')
    .replace(/\[\n *("[^"\n]*"|\{ [^\n]* \})\n *\]/g, '[$1]');
  return `${short}\n`;
}

/** Read from a real PostgreSQL after all migrations. */
async function currentSchema(): Promise<string> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'stamm-schema-'));
  const postgres = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
  try {
    await migrate(postgres.connection);
    const client = new pg.Client(postgres.connection);
    await client.connect();
    const document = await schemaDocument(client);
    await client.end();
    return document;
  } finally {
    await postgres.close();
    await rm(dataDir, { recursive: true });
  }
}

function settingsPage(): string {
  const rows = Object.entries(settings).map(
    ([name, setting]) => `| \`${name}\` | ${setting.default} | ${setting.meaning} |`,
  );
  return `# Settings

Environment variables. A command that starts reports all invalid ones together. This page is generated from \`server/config.ts\`.

| Name | Default | Meaning |
|---|---|---|
${rows.join('\n')}
`;
}

const clientTypes = 'client/src/api-types.ts';
const holidays = 'reference/holidays.json';

function readCommitted(name: string): Promise<string> {
  return readFile(path.join(root, name), 'utf8').catch(() => '');
}

function reportStale(name: string): void {
  process.stderr.write(`${name} is stale: run "npm run generate" and commit it.\n`);
  process.exitCode = 1;
}

async function writeOrCheck(isCheck: boolean): Promise<void> {
  const openapi = await apiDocument();
  const files = new Map([
    ['generated/openapi.json', openapi],
    ['generated/schema.sql', await currentSchema()],
    ['generated/statements.sql', statementsDocument(resources)],
    ['docs/guide/error-codes.md', errorCodesDocument()],
    ['docs/settings.md', settingsPage()],
  ]);
  for (const [name, content] of files) {
    if (!isCheck) await writeFile(path.join(root, name), content);
    else if ((await readCommitted(name)) !== content) reportStale(name);
  }
  // Making these takes seconds, so they are made only where they are stale.
  if (!isCurrent(await readCommitted(clientTypes), openapi)) {
    if (isCheck) reportStale(clientTypes);
    else await writeFile(path.join(root, clientTypes), await generateTypes(openapi));
  }
  if (!isHolidayTableCurrent(await readCommitted(holidays))) {
    if (isCheck) reportStale(holidays);
    else await writeFile(path.join(root, holidays), holidayTable());
  }
}

function printMigration(name = ''): void {
  const definition = resources.find((resource) => resource.name === name);
  if (definition) {
    process.stdout.write(migrationSkeleton(definition));
    return;
  }
  const known = resources.map((resource) => resource.name).join(', ');
  process.stderr.write(`server/resources/index.ts has no resource "${name}", only ${known}.\n`);
  process.exitCode = 1;
}

const [command, name] = process.argv.slice(2);
if (command === 'migration') printMigration(name);
else await writeOrCheck(command === '--check');
