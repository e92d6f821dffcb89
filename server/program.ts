// How a person calls Stamm: by its own program in a release, through npm in a checkout.
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';

const installed = path.resolve(import.meta.dirname, '../bin/stamm');

export const isRelease = existsSync(installed);

/** The links that docs/operate.md makes outlive the folder of one version. */
const links = ['/usr/local/bin/stamm', '/opt/stamm/bin/stamm'];
const ownProgram = links.find((link) => existsSync(link) && realpathSync(link) === installed) ?? installed;

export const program = isRelease ? ownProgram : 'npm run --silent stamm --';

export const startCommand = isRelease ? `${ownProgram} serve` : 'npm start';

export const demoCommand = isRelease ? `${ownProgram} demo` : 'npm run demo';
