// How a person calls Stamm: by its own program in a release, through npm in a checkout.
import { existsSync } from 'node:fs';
import path from 'node:path';

const ownProgram = path.resolve(import.meta.dirname, '../bin/stamm');

export const isRelease = existsSync(ownProgram);

export const program = isRelease ? ownProgram : 'npm run --silent stamm --';

export const startCommand = isRelease ? `${ownProgram} serve` : 'npm start';

export const demoCommand = isRelease ? `${ownProgram} demo` : 'npm run demo';
