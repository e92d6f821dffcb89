// What `doctor` looks at beside the database: ports, mail, Redis, the receiver of traces, the file of the map. Mostly it
// reports trouble only.
import { createServer, isIPv6 } from 'node:net';
import type { Config } from '../config.ts';
import type { Account } from '../database/embedded/programs.ts';
import { findTileFileTrouble } from '../features/map/tile-file.ts';
import { findUnreadable } from '../process/serving-account.ts';
import type { Finding } from './doctor-trouble.ts';

const patienceMs = 3000;

export async function checkPorts({ HOST, METRICS_HOST, METRICS_PORT, PORT }: Config): Promise<Finding[]> {
  const findings = [await checkPort('PORT', HOST, PORT)];
  if (METRICS_PORT !== undefined) findings.push(await checkPort('METRICS_PORT', METRICS_HOST, METRICS_PORT));
  return findings.flat();
}

async function checkPort(setting: string, host: string, port: number): Promise<Finding[]> {
  if (port === 0) return [];
  const code = await tryToListen(host, port);
  if (code === undefined) return [];
  const check = 'port';
  const where = `${setting}=${port} on ${host}`;
  switch (code) {
    case 'EADDRINUSE': {
      const owner = await findOwner(setting, host, port);
      if (owner === 'stamm') return [];
      if (owner === 'silent') {
        const message = `${where} is open but does not answer within ${patienceMs / 1000} s: Stamm is busy or stopped, or another program has it ("ss -ltnp" names it)`;
        return [{ check, status: 'warning', message, code: 'port_silent' }];
      }
      const message = `${where} is taken by another program: stop it ("ss -ltnp" names it), or choose another port`;
      return [{ check, status: 'failed', message, code: 'port_taken' }];
    }
    case 'EACCES': {
      const message = `${where} needs root: choose a port above 1023, or start Stamm as root`;
      return [{ check, status: 'failed', message, code: 'port_forbidden' }];
    }
    default: {
      const message = `${where} cannot be opened (${code}): use 127.0.0.1, or 0.0.0.0 for all addresses`;
      return [{ check, status: 'failed', message, code: 'address_unknown' }];
    }
  }
}

function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

/** A running service of ours is no trouble, and a busy one is not another program. */
async function findOwner(setting: string, host: string, port: number): Promise<'stamm' | 'silent' | 'other'> {
  // Containers may not know the name localhost.
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const name = isIPv6(address) ? `[${address}]` : address;
  const path = setting === 'PORT' ? 'livez' : 'metrics';
  try {
    const answer = await ask(`http://${name}:${port}/${path}`);
    return /^\{"status":"ok"\}$|^# HELP stamm_/m.test(answer) ? 'stamm' : 'other';
  } catch (error) {
    return (error as Error).name === 'TimeoutError' ? 'silent' : 'other';
  }
}

async function ask(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(patienceMs) });
  return response.text();
}

export async function checkMail({ SMTP_URL }: Config): Promise<Finding[]> {
  if (SMTP_URL === undefined) return [];
  const check = 'mail';
  const { createTransport } = await import('nodemailer');
  const timeouts = { connectionTimeout: patienceMs, greetingTimeout: patienceMs, socketTimeout: patienceMs };
  const transport = createTransport({ url: SMTP_URL, ...timeouts });
  try {
    await transport.verify();
    return [{ check, status: 'ok', message: 'the mail server accepts this login' }];
  } catch (error) {
    const { code, message: reason } = error as Error & { code?: string };
    const isLogin = code === 'EAUTH';
    const message = isLogin
      ? `the mail server refuses the login (${reason}): correct user and password in SMTP_URL`
      : `the mail server does not answer (${reason}): check host, port and smtp or smtps in SMTP_URL`;
    return [{ check, status: 'warning', message, code: isLogin ? 'mail_login_refused' : 'mail_unreachable' }];
  } finally {
    transport.close();
  }
}

export async function checkTraces(config: Config): Promise<Finding[]> {
  const url = config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (url === undefined) return [];
  const check = 'traces';
  try {
    await ask(url);
    return [{ check, status: 'ok', message: `the receiver at ${new URL(url).host} answers` }];
  } catch {
    const message = `the receiver at ${new URL(url).host} does not answer, so traces are lost: start it, or correct OTEL_EXPORTER_OTLP_ENDPOINT`;
    return [{ check, status: 'warning', message, code: 'traces_unreachable' }];
  }
}

export async function checkRedis({ REDIS_URL }: Config): Promise<Finding[]> {
  if (REDIS_URL === undefined) return [];
  const check = 'redis';
  const { Redis } = await import('ioredis');
  const redis = new Redis(REDIS_URL, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 2000 });
  redis.on('error', () => {});
  try {
    await redis.connect();
    await redis.ping();
    return [{ check, status: 'ok', message: 'answers, and counts requests' }];
  } catch (error) {
    const message = `does not answer (${(error as Error).message}): PostgreSQL counts requests until it does. Start it, or check REDIS_URL.`;
    return [{ check, status: 'warning', message, code: 'redis_unreachable' }];
  } finally {
    redis.disconnect();
  }
}

export async function checkTileFile({ MAP_TILES_FILE: file }: Config, account: Account): Promise<Finding[]> {
  if (file === undefined) return [];
  const check = 'map';
  const unreadable = account && (await findUnreadable(file, account));
  const trouble = unreadable ? `cannot be read: ${unreadable}` : await findTileFileTrouble(file);
  if (trouble === undefined) return [{ check, status: 'ok', message: `tiles come from ${file}` }];
  const message = `MAP_TILES_FILE ${trouble}. The map shows outlines. Put a PMTiles file there that the service can read`;
  return [{ check, status: 'warning', message, code: 'tile_file_unusable' }];
}
