// Run as the account that Node is to become. Prints what that account cannot do, and fails then.
import { mkdtempSync, readFileSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const { files, connection } = JSON.parse(readFileSync(0, 'utf8'));
try {
  for (const file of files) readFileSync(file);
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
