// Writes what is generated from the code, or with --check fails where the committed files are stale.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { readConfig, settings } from '../server/config.ts';
import { openDatabase } from '../server/database/database.ts';
import { buildApp } from '../server/http/app.ts';
import { buildBillOfMaterials, isBillOfMaterialsCurrent } from './bill-of-materials.ts';

const root = path.resolve(import.meta.dirname, '..');

async function openapiDocument(): Promise<string> {
  // The document needs the routes and no connection: the pool opens none before its first query.
  const app = await buildApp(
    readConfig({}),
    openDatabase({}, { maxConnections: 2 }),
    pino({ level: 'silent' }),
  );
  await app.ready();
  const document = JSON.stringify(app.swagger(), undefined, 2);
  await app.close();
  return `${document}\n`;
}

function settingsPage(): string {
  const rows = Object.entries(settings).map(
    ([name, setting]) => `| \`${name}\` | ${setting.default} | ${setting.meaning} |`,
  );
  return `# Settings

Environment variables. All wrong ones are reported at once when a command starts. This page is generated from \`server/config.ts\`.

| Name | Default | Meaning |
|---|---|---|
${rows.join('\n')}
`;
}

const files = new Map([
  ['generated/openapi.json', await openapiDocument()],
  ['docs/settings.md', settingsPage()],
]);

const isCheck = process.argv.includes('--check');
const billOfMaterials = 'generated/sbom.json';

function readCommitted(name: string): Promise<string> {
  return readFile(path.join(root, name), 'utf8').catch(() => '');
}

function reportStale(name: string): void {
  process.stderr.write(`${name} is stale: run "npm run generate" and commit it.\n`);
  process.exitCode = 1;
}

for (const [name, content] of files) {
  if (!isCheck) await writeFile(path.join(root, name), content);
  else if ((await readCommitted(name)) !== content) reportStale(name);
}

// Making it takes seconds, so it is made only where it is stale.
if (!(await isBillOfMaterialsCurrent(await readCommitted(billOfMaterials)))) {
  if (isCheck) reportStale(billOfMaterials);
  else await writeFile(path.join(root, billOfMaterials), await buildBillOfMaterials());
}
