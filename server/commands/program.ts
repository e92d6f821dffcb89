import { existsSync } from 'node:fs';
import path from 'node:path';

const ownProgram = path.resolve(import.meta.dirname, '../../bin/stamm');

/** How a person calls Stamm's commands: by its own program in a release, through npm in a checkout. */
export const program = existsSync(ownProgram) ? ownProgram : 'npm run --silent stamm --';
