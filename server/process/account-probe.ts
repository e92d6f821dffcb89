// Run as the account that Node is to become. Prints what that account cannot do, and fails then.
import { accessSync, constants, mkdtempSync, readFileSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const { files = [], folders = [], connection } = JSON.parse(readFileSync(0, 'utf8'));
try {
  for (const file of files) accessSync(file, constants.R_OK);
  for (const folder of folders) accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  // Imports keep their results there.
  rmdirSync(mkdtempSync(path.join(tmpdir(), 'stamm-probe-')));
  if (connection) {
    const { default: pg } = await import('pg');
    const client = new pg.Client({ ...connection, connectionTimeoutMillis: 10_000 });
    await client.connect();
    await client.end();
  }
} catch (error) {
  process.stdout.write((error as Error).message);
  process.exitCode = 1;
}
