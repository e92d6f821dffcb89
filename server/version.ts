// The version of this Stamm, as package.json has it.
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const { version }: { version: string } = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../package.json'), 'utf8'),
);
