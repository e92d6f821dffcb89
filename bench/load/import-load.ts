// Imports of sites through POST /import, and the same rows by COPY.
import { chmod, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { selectWords, storedRows } from '../../server/engine/write/search-words.ts';
import { site } from '../../server/resources/site.ts';
import { siteColumns, tenantCount } from '../data/tenants.ts';
import { type BenchDatabase, countRows } from '../postgres.ts';
import { runOwn } from '../processes.ts';
import type { Prepared } from '../service.ts';

export interface ImportOrder {
  origin: string;
  key: string;
  /** Number of the tenant whose customers get the sites. */
  tenant: number;
  /** Of the external ids: none may be known already. */
  prefix: string;
  lines: number;
  /** Ends the import before all lines are sent. */
  seconds?: number;
}

export interface ImportReport {
  sent: number;
  answered: number;
  created: number;
  seconds: number;
}

/** No import of ours may take longer. */
const longestSeconds = 3600;

export async function runImport(
  { service, tenants }: Prepared,
  order: Omit<ImportOrder, 'origin' | 'key'>,
): Promise<ImportReport> {
  const full: ImportOrder = { origin: service.origin, key: tenants.keys[order.tenant]!, ...order };
  const report = await runOwn<ImportReport>('load/import-client.ts', full, longestSeconds);
  if (report.created !== report.sent || report.answered !== report.sent)
    throw new Error(
      `Import: ${report.sent} lines, but ${report.answered} answers and ${report.created} created.`,
    );
  return report;
}

/** Fails unless each line has become a row and a journal entry. */
export async function importAndCheck(prepared: Prepared, order: Omit<ImportOrder, 'origin' | 'key'>) {
  const before = await countRows(prepared.database);
  const report = await runImport(prepared, order);
  const after = await countRows(prepared.database);
  const rows = after.sites - before.sites;
  if (rows !== report.sent || after.entries - before.entries !== report.sent)
    throw new Error(`Import: ${report.sent} lines, but ${rows} rows.`);
  return report;
}

/** COPY from a file that PostgreSQL has written on the server, and the words: only the insertion is timed. */
export async function copyRows(
  { owner }: BenchDatabase,
  { workDir, tenant, prefix, lines }: { workDir: string; tenant: number; prefix: string; lines: number },
): Promise<{ rows: number; seconds: number }> {
  const folder = path.join(workDir, 'copy');
  await mkdir(folder, { recursive: true });
  // PostgreSQL may run as another user.
  await chmod(folder, 0o777);
  const file = path.join(folder, 'sites');
  const number = `(index * ${tenantCount} + ${tenant})`;
  const columns = { ...siteColumns(number), external_id: `'${prefix}' || ${number}` };
  const selection = `SELECT ${Object.values(columns).join(', ')} FROM generate_series(0::bigint, ${lines - 1}) AS index`;
  await owner.query(`COPY (${selection}) TO '${file}'`);
  const startedAt = performance.now();
  const { rowCount } = await owner.query(`COPY site (${Object.keys(columns).join(', ')}) FROM '${file}'`);
  await owner.query(
    `INSERT INTO search_word (tenant_id, resource, word, id)
     ${selectWords(site, storedRows(site, 'starts_with(subject.external_id, $1)'))}`,
    [prefix],
  );
  const seconds = (performance.now() - startedAt) / 1000;
  await rm(file);
  if (rowCount !== lines) throw new Error(`COPY: ${lines} lines, but ${rowCount} rows.`);
  return { rows: lines, seconds };
}
