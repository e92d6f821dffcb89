// Reads migrations/NNNN-title.sql, and what a file declares about itself. docs/migrations.md has the rules.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

export class MigrationError extends Error {}

export interface Migration {
  name: string;
  sql: string;
  checksum: string;
  /** A node has to know the migration with this number to work with the result. */
  oldestNode: string;
  /** Statements that run one by one, outside of a transaction; undefined for all other files. */
  indexStatements: IndexStatement[] | undefined;
}

export interface IndexStatement {
  sql: string;
  /** The index that it builds; undefined where it drops one. */
  builds: string | undefined;
}

/** Every node can work with the result: the file only adds. */
export const anyNode = '0000';

export function numberOf(migrationName: string): string {
  return migrationName.slice(0, 4);
}

export async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => parseMigration(name, await readFile(path.join(folder, name), 'utf8'))),
  );
}

function parseMigration(name: string, sql: string): Migration {
  return {
    name,
    sql,
    checksum: createHash('sha256').update(sql).digest('hex'),
    oldestNode: /^-- Oldest node: (\d{4})$/m.exec(sql)?.[1] ?? anyNode,
    indexStatements: name.endsWith('.concurrently.sql') ? parseIndexStatements(name, sql) : undefined,
  };
}

const indexStatement =
  /^(?:CREATE (?:UNIQUE )?INDEX CONCURRENTLY (\w+) ON |DROP INDEX CONCURRENTLY IF EXISTS \w+$)/;

function parseIndexStatements(name: string, sql: string): IndexStatement[] {
  const texts = sql.replace(/^--.*$/gm, '').split(/;\s*$/m);
  return texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => {
      const match = indexStatement.exec(text);
      if (match) return { sql: text, builds: match[1] };
      throw new MigrationError(
        `${name} may hold only CREATE INDEX CONCURRENTLY name ON … and DROP INDEX CONCURRENTLY IF EXISTS name.`,
      );
    });
}
