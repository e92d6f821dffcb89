// Names the cause of trouble that `doctor` or an opening of the database finds, and the next step.
import type pg from 'pg';
import { ConnectionError } from '../database/connection.ts';
import { EmbeddedPostgresError } from '../database/embedded/postgres.ts';
import { MigrationError } from '../database/migrations/migration-files.ts';

export interface Finding {
  check: string;
  status: 'ok' | 'warning' | 'failed';
  /** The cause and the next step. */
  message: string;
  /** Names the trouble for programs; docs/doctor.md lists all of them. */
  code?: string;
}

interface Trouble {
  code: string;
  /** Messages of PostgreSQL, the driver or Node in this trouble. */
  isMeant(reason: string, code: string): boolean;
  next: string;
}

const troubles: readonly Trouble[] = [
  {
    code: 'password_wrong',
    isMeant: (_reason, code) => code.startsWith('28'),
    next: 'Correct user and password in DATABASE_URL, or allow this login in pg_hba.conf.',
  },
  {
    code: 'database_unknown',
    isMeant: (_reason, code) => code === '3D000',
    next: "Create it with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, or correct the name in DATABASE_URL.",
  },
  {
    code: 'connections_exhausted',
    isMeant: (_reason, code) => code === '53300',
    next: 'Raise max_connections, or end other programs that hold connections.',
  },
  {
    code: 'database_starting',
    isMeant: (_reason, code) => code === '57P03',
    next: 'It starts, stops or recovers: try again in a minute.',
  },
  {
    code: 'tls_missing',
    isMeant: (reason) => /does not support SSL/.test(reason),
    next: 'Turn TLS on in PostgreSQL (ssl = on), or remove sslmode from DATABASE_URL.',
  },
  {
    code: 'certificate_refused',
    isMeant: (reason, code) => /certificate|CERT/i.test(`${reason} ${code}`),
    next: 'Name the authority with sslrootcert in DATABASE_URL, or renew the certificate.',
  },
  {
    code: 'postgres_too_old',
    isMeant: (reason) => /Stamm needs \d+ or newer/.test(reason),
    next: 'Upgrade PostgreSQL, or name another server in DATABASE_URL.',
  },
  {
    code: 'encoding_wrong',
    isMeant: (reason) => /its encoding is/.test(reason),
    next: 'Create a new database with that encoding and restore a backup into it.',
  },
  {
    code: 'host_unknown',
    isMeant: (_reason, code) => code === 'ENOTFOUND' || code === 'EAI_AGAIN',
    next: 'Correct the host in DATABASE_URL, or check name resolution.',
  },
  {
    code: 'database_unreachable',
    isMeant: (reason, code) =>
      /ECONNREFUSED|ENOENT|EHOSTUNREACH|ETIMEDOUT|timeout/i.test(`${reason} ${code}`),
    next: 'Start PostgreSQL there, open the way through the firewall, or correct host and port in DATABASE_URL.',
  },
];

/** Explains an error that kept the database from being opened or read. */
export function describeDatabaseTrouble(error: unknown): Finding {
  const { message, cause } = error as Error;
  const found = { check: 'database', status: 'failed' as const };
  if (error instanceof MigrationError) {
    const isNewer = message.includes('newer Stamm');
    return { ...found, message, code: isNewer ? 'schema_newer' : 'schema_foreign' };
  }
  if (error instanceof EmbeddedPostgresError) return { ...found, message, code: 'data_folder_unusable' };
  if (!(error instanceof ConnectionError) || cause === undefined)
    return { ...found, message, code: error instanceof ConnectionError ? 'database_missing' : 'unknown' };
  const [reason, code] = reasonOf(cause);
  const trouble = troubles.find(({ isMeant }) => isMeant(reason, code));
  return trouble
    ? {
        ...found,
        message: `${message.split(/\. Check DATABASE_URL/, 1)[0]}. ${trouble.next}`,
        code: trouble.code,
      }
    : { ...found, message, code: 'database_unusable' };
}

/** Node reports a refused connection to several addresses as one error of several. */
function reasonOf(cause: unknown): [reason: string, code: string] {
  const [first = cause] = cause instanceof AggregateError ? cause.errors : [cause];
  const { message, code = '' } = first as pg.DatabaseError;
  return [message, code];
}
