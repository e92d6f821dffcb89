// The bill of materials: every package that the service runs with, as CycloneDX. It follows from the lockfile alone, so
// the check compares the lockfile's hash instead of running the tool again.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '..');
const tool = path.join(root, 'node_modules/@cyclonedx/cyclonedx-npm/bin/cyclonedx-npm-cli.js');
const lockfileHashName = 'stamm:package-lock.json:sha-256';

interface Component {
  name: string;
  version?: string;
}

interface BillOfMaterials {
  metadata: { tools: { components: Component[] }; properties: { name: string; value: string }[] };
}

async function hashLockfile(): Promise<string> {
  const content = await readFile(path.join(root, 'package-lock.json'));
  return createHash('sha256').update(content).digest('hex');
}

export async function buildBillOfMaterials(): Promise<string> {
  const options = ['--output-reproducible', '--package-lock-only', '--omit', 'dev', '--output-file', '-'];
  const maxBuffer = 64 * 1024 * 1024;
  const { stdout } = await promisify(execFile)(process.execPath, [tool, ...options], {
    cwd: root,
    maxBuffer,
  });
  const document: BillOfMaterials = JSON.parse(stdout);
  const { tools, properties } = document.metadata;
  // Which npm made it depends on the machine.
  tools.components = tools.components.filter(({ name }) => name !== 'npm');
  properties.push({ name: lockfileHashName, value: await hashLockfile() });
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

export async function isBillOfMaterialsCurrent(committed: string): Promise<boolean> {
  if (committed === '') return false;
  const { metadata }: BillOfMaterials = JSON.parse(committed);
  const written = metadata.properties.find(({ name }) => name === lockfileHashName);
  return written?.value === (await hashLockfile());
}
