// The licences of everything that browsers get, written when the app is built. They cover packages in the bundle and
// packages that reach the browser in another way.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin, Rolldown } from 'vite';

const modules = path.resolve(import.meta.dirname, '../node_modules');

/** The map's outline is cut from the first. The second is the reference page. The others write helpers into the bundle. */
const otherPackages = ['world-atlas', '@scalar/fastify-api-reference', 'vite', 'rolldown'];

/** Workers are bundles of their own, made before the app's. */
const workerFolders = new Set<string>();

export function collectWorkerPackages(): Plugin {
  return {
    name: 'worker-packages',
    generateBundle(_options, bundle) {
      for (const folder of scriptsOf(bundle).flatMap(findPackageFolder)) workerFolders.add(folder);
    },
  };
}

function scriptsOf(bundle: Rolldown.OutputBundle): string[] {
  return Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
}

export function thirdPartyNotices(): Plugin {
  return {
    name: 'third-party-notices',
    generateBundle(_options, bundle) {
      // Styles leave their chunks when they become files, and fonts come with styles.
      const styles = [...this.getModuleIds()].filter((id) => /\.css(\?|$)/.test(id));
      const folders = new Set([
        ...[...scriptsOf(bundle), ...styles].flatMap(findPackageFolder),
        ...workerFolders,
        ...otherPackages.map((name) => path.join(modules, name)),
      ]);
      const notices = [tablerIcons, geoNames, ...[...folders].map(readNotice)].sort((a, b) =>
        a.title < b.title ? -1 : 1,
      );
      this.emitFile({ type: 'asset', fileName: 'third-party-notices.txt', source: writePage(notices) });
    },
  };
}

const geoNames: Notice = {
  title: 'GeoNames postal codes',
  text: `Positions and names of towns and postcodes, shortened, from https://www.geonames.org.
Licensed under CC BY 4.0: https://creativecommons.org/licenses/by/4.0/`,
};

/** None for our own modules and for those that the bundler makes up. */
function findPackageFolder(moduleId: string): string[] {
  const match = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(moduleId.replaceAll('\\', '/'));
  return match ? [match[1]!] : [];
}

interface Notice {
  title: string;
  text: string;
}

function readNotice(folder: string): Notice {
  const { name, version, license, author } = JSON.parse(
    readFileSync(path.join(folder, 'package.json'), 'utf8'),
  );
  const files = readdirSync(folder).filter((file) =>
    /^(licen[cs]e|notice|copying)(\.(md|txt))?$/i.test(file),
  );
  const texts = files.sort().map((file) => readFileSync(path.join(folder, file), 'utf8').trim());
  // What the builder itself is made of stays on the machine that builds.
  const text = texts.join('\n\n').split('# Licenses of bundled dependencies')[0]!.trim();
  // Some packages name the licence only. A test fails for one that is not MIT.
  const isPlainMit = license === 'MIT' && typeof author === 'string';
  const written = text || (isPlainMit ? writeMitLicence(author) : 'The package brings no licence text.');
  return { title: `${name} ${version} (${license})`, text: written };
}

/** Drawings in web/src/icons.tsx. */
const tablerIcons: Notice = { title: 'Tabler Icons (MIT)', text: writeMitLicence('Paweł Kuna') };

function writeMitLicence(holder: string): string {
  return `MIT License

Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;
}

function writePage(notices: readonly Notice[]): string {
  const rule = '-'.repeat(80);
  const parts = notices.map(({ title, text }) => `${rule}\n${title}\n${rule}\n\n${text}\n`);
  return `Stamm's web app and reference page contain the following software, fonts and data of others.\n\n${parts.join('\n')}`;
}
