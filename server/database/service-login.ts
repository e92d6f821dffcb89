// The login that requests use: a member of stamm_service and of nothing else. The database stores its name and password,
// readable by the owner only: all nodes agree on them.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { expected } from '../telemetry/expected.ts';
import { asDatabaseOwner } from './connection.ts';
import { serviceRole } from './connections.ts';
import { patienceMs } from './timeouts.ts';

export interface ServiceLogin {
  /** The configuration that pg takes. */
  client: pg.ClientConfig;
  /** Why requests use the owner's login; undefined if they have their own. */
  obstacle: string | undefined;
}

interface Credentials {
  name: string;
  password: string;
}

/** Finds the login of a migrated database, or creates it. Safe to call from many processes. */
export async function openServiceLogin(owner: pg.ClientConfig): Promise<ServiceLogin> {
  return asDatabaseOwner(owner, async (client) => {
    const credentials = await readCredentials(client);
    // The given login only serves; the owner migrates.
    if (!credentials) return { client: owner, obstacle: undefined };
    const service = withCredentials(owner, credentials);
    if ((await findObstacle(service)) === undefined) return { client: service, obstacle: undefined };
    const error = await makeRole(client, credentials).then(
      () => undefined,
      ({ message }: Error) => message,
    );
    // Another process may have created it meanwhile.
    const obstacle = await findObstacle(service);
    if (obstacle === undefined) return { client: service, obstacle };
    return { client: owner, obstacle: error ?? obstacle };
  });
}

/** Like openServiceLogin, without creating anything. */
export async function inspectServiceLogin(client: pg.Client, owner: pg.ClientConfig): Promise<ServiceLogin> {
  const credentials = await readCredentials(client);
  if (!credentials) return { client: owner, obstacle: undefined };
  const service = withCredentials(owner, credentials);
  const obstacle = await findObstacle(service);
  return { client: obstacle === undefined ? service : owner, obstacle };
}

const insufficientPrivilege = '42501';

async function readCredentials(client: pg.Client): Promise<Credentials | undefined> {
  try {
    return (await client.query<Credentials>('SELECT name, password FROM service_login')).rows[0];
  } catch (error) {
    if ((error as pg.DatabaseError).code === insufficientPrivilege) return undefined;
    throw error;
  }
}

/** A URL can hold a login in two places: before the host and in the query. */
function withCredentials(owner: pg.ClientConfig, { name, password }: Credentials): pg.ClientConfig {
  if (owner.connectionString === undefined) return { ...owner, user: name, password };
  const address = new URL(owner.connectionString);
  address.searchParams.delete('user');
  address.searchParams.delete('password');
  Object.assign(address, { username: name, password });
  return { ...owner, connectionString: address.href };
}

/** Why requests cannot use the login, or undefined. Throws if the database does not answer. */
async function findObstacle(service: pg.ClientConfig): Promise<string | undefined> {
  const client = new pg.Client({
    ...service,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(`SET ROLE ${serviceRole}`);
    const { rows } = await client.query<{ is_mighty: boolean }>(
      `SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls OR EXISTS (
         SELECT FROM pg_auth_members WHERE member = pg_roles.oid AND roleid <> '${serviceRole}'::regrole) AS is_mighty
       FROM pg_roles WHERE rolname = session_user`,
    );
    return rows[0]!.is_mighty ? 'the login has more rights than those of stamm_service' : undefined;
  } catch (error) {
    // A rejection by PostgreSQL or a pooler is an answer. Overloaded or starting is not.
    const isRefused = error instanceof pg.DatabaseError && !/^5[37]/.test(error.code ?? '');
    if (!isRefused) throw error;
    return error.message;
  } finally {
    await client.end().catch(expected);
  }
}

/** Any number that nothing else locks. */
const roleLock = 7_882_002;

async function makeRole(client: pg.Client, { name, password }: Credentials): Promise<void> {
  const role = pg.escapeIdentifier(name);
  // With NOINHERIT a session that leaves stamm_service has no rights.
  const attributes = `LOGIN NOINHERIT PASSWORD ${pg.escapeLiteral(toVerifier(password))}`;
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [roleLock]);
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [name]);
    await client.query(
      rowCount === 0
        ? `CREATE ROLE ${role} ${attributes} NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS`
        : `ALTER ROLE ${role} ${attributes}`,
    );
    await client.query(`GRANT ${serviceRole} TO ${role}`);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/** As PostgreSQL stores it (RFC 5803): no server log shows the password. */
function toVerifier(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  const serverKey = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
