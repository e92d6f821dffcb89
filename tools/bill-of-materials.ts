// The bill of materials: every package that the service runs with, as CycloneDX. It follows from the lockfile alone.
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '..');

interface BillOfMaterials {
  components: { 'bom-ref': string; name: string; version: string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
  serialNumber?: string;
  metadata: {
    timestamp?: string;
    tools?: object;
    component: { name: string; type: string };
  };
}

export async function buildBillOfMaterials(): Promise<string> {
  // With --omit dev npm would also leave out what both the service and a tool need, such as ajv.
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const maxBuffer = 64 * 1024 * 1024;
  const { stdout } = await promisify(execFile)('npm', words, { cwd: root, maxBuffer });
  const document: BillOfMaterials = JSON.parse(stdout);
  leaveOutTools(document, await readRuntimePackages());
  // The same lockfile gives the same file: without time, random number, version of npm and name of the folder.
  delete document.serialNumber;
  delete document.metadata.timestamp;
  delete document.metadata.tools;
  Object.assign(document.metadata.component, { name: 'stamm', type: 'application' });
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

interface LockedPackage {
  version: string;
  dev?: boolean;
  link?: boolean;
  dependencies?: Record<string, string>;
}

/** Name and version of each package of the lockfile that is not for development only, or that browsers get. */
async function readRuntimePackages(): Promise<Set<string>> {
  const lockfile = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8'));
  const packages: Record<string, LockedPackage> = lockfile.packages;
  const inBrowsers = findBrowserPlaces(packages);
  // The client is part of this repository, not a package that the service runs with.
  const kept = Object.entries(packages).filter(
    ([place, { dev, link }]) => place.includes('node_modules/') && (!dev || inBrowsers.has(place)) && !link,
  );
  return new Set(kept.map(([place, { version }]) => `${place.split('node_modules/').at(-1)}@${version}`));
}

/** Installed for the build of the web app only, and yet part of it: what its sources import, and the reference page. */
function findBrowserPlaces(packages: Readonly<Record<string, LockedPackage>>): Set<string> {
  const places = new Set<string>();
  const visit = (name: string, from: string) => {
    const folder = `${from}/node_modules/${name}`.replace(/^\//, '');
    if (!packages[folder]) {
      if (from !== '') visit(name, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))));
      return;
    }
    if (places.has(folder)) return;
    places.add(folder);
    for (const dependency of Object.keys(packages[folder].dependencies ?? {})) visit(dependency, folder);
  };
  for (const file of globSync('web/src/**/*.{ts,tsx,css}', { cwd: root, exclude: ['**/*.test.ts'] })) {
    const source = readFileSync(path.join(root, file), 'utf8');
    for (const [, name] of source.matchAll(/(?:from|import) ['"]((?:@[\w-]+\/)?[\w.-]+)/g)) visit(name!, '');
  }
  for (const name of ['world-atlas', '@scalar/fastify-api-reference']) visit(name, '');
  return places;
}

function leaveOutTools(document: BillOfMaterials, kept: ReadonlySet<string>): void {
  const tools = document.components.filter(({ name, version }) => !kept.has(`${name}@${version}`));
  const left = new Set(tools.map((tool) => tool['bom-ref']));
  document.components = document.components.filter((component) => !left.has(component['bom-ref']));
  document.dependencies = document.dependencies
    .filter(({ ref }) => !left.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => !left.has(other)) }));
}
