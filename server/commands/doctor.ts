// Checks everything that the service needs, and says how to fix it.
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import type { Config } from '../config.ts';
import { asDatabaseOwner, type Connection, openConnection } from '../database/connection.ts';
import { serviceRole } from '../database/connections.ts';
import { nameAccount } from '../database/embedded/programs.ts';
import { findPendingMigrations } from '../database/migrations/migrations.ts';
import { inspectServiceLogin, type ServiceLogin } from '../database/service-login.ts';
import { ownLoginAdvice } from '../process/service.ts';
import { findServingAccount, type ServingAccount } from '../process/serving-account.ts';
import { program } from '../program.ts';
import { expected } from '../telemetry/expected.ts';
import type { Command, Outcome } from './command.ts';
import { type BackupMemory, checkBackups, readBackupMemory } from './doctor-backups.ts';
import {
  checkBackground,
  checkClock,
  checkConnections,
  checkDistribution,
  checkServiceSession,
  checkWebhooks,
  checkWrites,
} from './doctor-database.ts';
import { checkMail, checkPorts, checkRedis, checkTileFile, checkTraces } from './doctor-surroundings.ts';
import { describeDatabaseTrouble, type Finding } from './doctor-trouble.ts';

const neededNodeVersion = 26;
const lowDiskBytes = 1024 ** 3;

const doctor: Command = {
  name: 'doctor',
  summary: 'Check runtime, settings, database, migrations and disk, and say what to do.',
  options: {},
  async run({ config }) {
    // Settings have been read by now: had one been wrong, that would have been the answer.
    const database = await checkDatabase(config);
    const findings: Finding[] = [
      checkRuntime(process.versions.node),
      { check: 'settings', status: 'ok', message: 'all settings can be read' },
      checkProxy(config),
      ...checkPublicUrl(config),
      ...(await checkPorts(config)),
      ...database.findings,
      ...(await checkRedis(config)),
      ...(await checkMail(config)),
      ...(await checkTraces(config)),
      ...(await checkTileFile(config, database.memory.account)),
      await checkBackups(config, database.memory),
    ];
    return report(findings);
  },
  refuseSettings(error) {
    return report([{ check: 'settings', status: 'failed', message: error.message, code: 'settings_wrong' }]);
  },
};

export const commands: readonly Command[] = [doctor];

function report(findings: readonly Finding[]): Outcome {
  const hasFailure = findings.some((finding) => finding.status === 'failed');
  const marks = { ok: '✓', warning: '!', failed: '✗' };
  const lines = findings.map(
    ({ check, status, message }) => `${marks[status]} ${check.padEnd(11)} ${message}`,
  );
  return { text: lines.join('\n'), json: { ok: !hasFailure, findings }, exitCode: hasFailure ? 1 : 0 };
}

export function checkRuntime(version: string): Finding {
  const check = 'runtime';
  if (Number.parseInt(version, 10) >= neededNodeVersion)
    return { check, status: 'ok', message: `Node ${version} on ${process.platform} ${process.arch}` };
  const message = `Node ${version} is too old. Run "npm ci", which brings the right one, and start through npm.`;
  return { check, status: 'failed', message, code: 'node_too_old' };
}

/** Whether a proxy is in front cannot be seen from here, only whether one would be believed. */
function checkProxy({ HOST, TRUST_PROXY }: Config): Finding {
  const check = 'proxy';
  if (TRUST_PROXY.length > 0) {
    return { check, status: 'ok', message: `X-Forwarded-For is believed from ${TRUST_PROXY.join(', ')}` };
  }
  const isLocal = HOST === 'localhost' || HOST === '::1' || HOST.startsWith('127.');
  return isLocal
    ? { check, status: 'ok', message: 'none is trusted; for one on this machine set TRUST_PROXY=loopback' }
    : {
        check,
        status: 'warning',
        code: 'proxy_untrusted',
        message: `HOST=${HOST} is open to the network and TRUST_PROXY is empty: put a proxy with TLS in front and name its address there. Without it, all people behind the proxy share one address and its limits.`,
      };
}

/** Behind a proxy the address of a request may be one that only the proxy uses. */
function checkPublicUrl({ PUBLIC_URL, TRUST_PROXY }: Config): Finding[] {
  if (PUBLIC_URL !== undefined || TRUST_PROXY.length === 0) return [];
  const message =
    'PUBLIC_URL is not set: links and passkeys use the address of each request. Set it to the address that people open.';
  return [{ check: 'address', status: 'warning', message, code: 'public_url_missing' }];
}

interface Examined {
  findings: Finding[];
  /** Empty without a database that answers. */
  memory: BackupMemory;
}

async function checkDatabase(config: Config): Promise<Examined> {
  const disk = config.DATABASE_URL === undefined ? [await checkDisk(config.DATA_DIR)] : [];
  try {
    const connection = await openConnection(config, { purpose: 'command', mayCreate: false });
    try {
      return await asDatabaseOwner(connection.client, async (client) => {
        const database: Finding = { check: 'database', status: 'ok', message: connection.description };
        const migrations = await checkMigrations(client);
        const role = await checkRole(client);
        const { account } = connection;
        if (migrations.status !== 'ok')
          return { findings: [database, migrations, role, ...disk], memory: { account } };
        const login = await inspectServiceLogin(client, connection.client);
        const serving = await findServingAccount(config, connection, login.client);
        const findings = [
          database,
          await checkWrites(client, login.client),
          ...(await checkClock(client)),
          await checkConnections(client, config),
          ...(await checkDistribution(client)),
          migrations,
          role,
          checkLogin(connection, login),
          ...(await checkServiceSession(login.client)),
          ...(await checkWebhooks(client)),
          ...(await checkBackground(client)),
          ...checkAccount(connection, serving),
          ...disk,
        ];
        return { findings, memory: await readBackupMemory(client, config, serving.account) };
      });
    } finally {
      await connection.close();
    }
  } catch (error) {
    return { findings: [describeDatabaseTrouble(error), ...disk], memory: {} };
  }
}

async function checkMigrations(client: pg.Client): Promise<Finding> {
  const pending = await findPendingMigrations(client);
  return {
    check: 'migrations',
    status: pending.length === 0 ? 'ok' : 'warning',
    ...(pending.length > 0 && { code: 'schema_old' }),
    message:
      pending.length === 0
        ? 'up to date'
        : `${pending.join(', ')} not applied yet: start the service, or run "${program} migrate"`,
  };
}

async function checkRole(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ is_unsafe: boolean }>(
    'SELECT rolsuper OR rolbypassrls AS is_unsafe FROM pg_roles WHERE rolname = $1',
    [serviceRole],
  );
  if (!rows[0])
    return { check: 'role', status: 'warning', message: `${serviceRole} is made with the first migration` };
  return rows[0].is_unsafe
    ? {
        check: 'role',
        status: 'failed',
        code: 'role_unsafe',
        message: `${serviceRole} bypasses row-level security. Run: ALTER ROLE ${serviceRole} NOSUPERUSER NOBYPASSRLS`,
      }
    : {
        check: 'role',
        status: 'ok',
        message: `requests run as ${serviceRole}, which bypasses no row-level security`,
      };
}

function checkLogin({ client }: Connection, login: ServiceLogin): Finding {
  if (login.obstacle) {
    const message = `requests have no login of their own (${login.obstacle}). Start the service, which makes it; if it cannot, ${ownLoginAdvice}`;
    return { check: 'login', status: 'warning', message, code: 'login_missing' };
  }
  const whose = login.client === client ? 'the login of DATABASE_URL' : 'a login of their own';
  return {
    check: 'login',
    status: 'ok',
    message: `requests use ${whose}, which is only a member of ${serviceRole}`,
  };
}

/** Only root has a choice. */
function checkAccount({ account }: Connection, { warning }: ServingAccount): Finding[] {
  if (!account) return [];
  const message = `started as root, Node runs as ${nameAccount(account)}`;
  return [{ check: 'account', status: warning ? 'warning' : 'ok', message: warning ?? message }];
}

async function checkDisk(dataDir: string): Promise<Finding> {
  // The folder itself may not be there yet; then its nearest parent tells.
  for (let folder = dataDir; ; folder = path.dirname(folder)) {
    const space = await statfs(folder).catch(expected);
    if (space === undefined && folder !== path.dirname(folder)) continue;
    const freeBytes = space ? space.bavail * space.bsize : 0;
    const free = `${(freeBytes / 1024 ** 3).toFixed(1)} GiB free for ${dataDir}`;
    return freeBytes >= lowDiskBytes
      ? { check: 'disk', status: 'ok', message: free }
      : {
          check: 'disk',
          status: 'warning',
          message: `${free}: make room, or move DATA_DIR`,
          code: 'disk_low',
        };
  }
}
