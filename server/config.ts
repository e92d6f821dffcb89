// The only reader of the environment. Each setting has its default and its meaning here, and nowhere else;
// docs/settings.md is generated from this table.
import { isIP, isIPv6 } from 'node:net';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { backupsIn } from './database/embedded/data-dir.ts';
import { defaultDataDir } from './database/embedded/postgres.ts';
import { isRelease } from './program.ts';

type Environment = Record<string, string | undefined>;

interface Setting<Value> {
  meaning: string;
  /** As shown in the documentation; `parse` receives undefined when the variable is not set. */
  default: string;
  /** Throws an Error whose message completes the sentence "NAME …". */
  parse: (text: string | undefined, environment: Environment) => Value;
}

const checkout = path.resolve(import.meta.dirname, '..');

function integerBetween(minimum: number, maximum: number, fallback: number) {
  return (text: string | undefined): number => {
    if (text === undefined) return fallback;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= minimum && value <= maximum)) {
      throw new Error(`must be a whole number from ${minimum} to ${maximum}`);
    }
    return value;
  };
}

function urlWithProtocol(...protocols: string[]) {
  return (text: string | undefined): string | undefined => {
    if (text === undefined) return undefined;
    const address = withHost(text);
    if (!protocols.some((protocol) => address.startsWith(`${protocol}//`)))
      throw new Error(`must be an address that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    if (!URL.canParse(address))
      throw new Error('is no address: percent-encode special characters of the password, such as %2F for /');
    return address;
  };
}

/** libpq allows an address without a host, whose socket a parameter names; URLs need one. */
function withHost(address: string): string {
  return address.replace(/(?<=\/\/[^/?]*@|:\/\/)(?=\/)/, 'localhost');
}

function oneOf<const Choice extends string>(choices: readonly Choice[], fallback: Choice) {
  return (text: string | undefined): Choice => {
    const choice = choices.find((candidate) => candidate === (text ?? fallback));
    if (choice === undefined) throw new Error(`must be one of ${choices.join(', ')}`);
    return choice;
  };
}

const namedNetworks = ['loopback', 'linklocal', 'uniquelocal'];

function proxies(text = ''): string[] {
  const parts = text.split(',').map((part) => part.trim());
  const named = parts.filter((part) => part !== '');
  for (const part of named) {
    if (!namedNetworks.includes(part) && !isNetwork(part)) {
      throw new Error(
        `must be addresses, networks like 10.0.0.0/8, or ${namedNetworks.join(', ')}, separated by commas; "${part}" is not`,
      );
    }
  }
  return named;
}

/** An address, or one with the number of bits that its network has. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  if (isIP(address) === 0 || address.includes('%') || rest.length > 0) return false;
  if (bits === undefined) return true;
  return /^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (isIPv6(address) ? 128 : 32);
}

function setting<Value>(definition: Setting<Value>): Setting<Value> {
  return definition;
}

/** A hundred years. */
const maxRetentionDays = 36_500;

export const settings = {
  HOST: setting({
    meaning: 'Address to listen on. `0.0.0.0` opens the service to the network; put TLS in front of it.',
    default: '127.0.0.1',
    parse: (text) => text ?? '127.0.0.1',
  }),
  PORT: setting({
    meaning: 'Port to listen on; 0 picks a free one.',
    default: '3000',
    parse: integerBetween(0, 65535, 3000),
  }),
  DATA_DIR: setting({
    meaning: 'Where the PostgreSQL that Stamm brings keeps its data. Not used with `DATABASE_URL`.',
    default:
      '`data` in the checkout; `/var/lib/stamm` for root where only root may enter the checkout. A release uses `/var/lib/stamm` for root, or if it exists',
    parse: (text) => (text === undefined ? defaultDataDir(checkout, isRelease) : path.resolve(text)),
  }),
  DATABASE_URL: setting({
    meaning:
      'A PostgreSQL (15 or newer) to use instead of the one that Stamm brings. The login owns the database and has `CREATEROLE`. Requests use a login that Stamm makes, a member of `stamm_service` only. A login of that kind is enough to serve where somebody else migrates.',
    default: 'none',
    parse: urlWithProtocol('postgres:', 'postgresql:'),
  }),
  EARLIER_POSTGRES: setting({
    meaning:
      'Folder with the programs (`bin/postgres`) of an earlier PostgreSQL. A start uses them to move its data to the current one.',
    default: 'the programs that a release brings for this, else those of Debian',
    parse: (text) => text,
  }),
  DATABASE_WAIT_SECONDS: setting({
    meaning:
      'How long a start waits for the database in `DATABASE_URL` if it does not answer or is a standby.',
    default: '60',
    parse: integerBetween(0, 86_400, 60),
  }),
  WORKERS: setting({
    meaning: 'How many processes share the port and the work.',
    default:
      'one for each core; one less, and at least one, where the PostgreSQL that Stamm brings needs one too',
    parse: (text, { DATABASE_URL }) => {
      const cores = availableParallelism();
      return integerBetween(1, 256, DATABASE_URL ? cores : Math.max(1, cores - 1))(text);
    },
  }),
  DRAIN_SECONDS: setting({
    meaning:
      'How long the service still serves after SIGTERM. Meanwhile `/readyz` fails, so choose longer than a proxy takes to notice.',
    default: '10 with `DATABASE_URL`, 0 without',
    parse: (text, { DATABASE_URL }) => integerBetween(0, 3600, DATABASE_URL ? 10 : 0)(text),
  }),
  DATABASE_CONNECTIONS: setting({
    meaning:
      'How many connections all workers together open to the database at most. Each running import adds two, health checks one. Each worker has 4 at least.',
    default: '20',
    parse: integerBetween(4, 1000, 20),
  }),
  METRICS_PORT: setting({
    meaning:
      'Port at which Prometheus reads `GET /metrics`, without a password; 0 picks a free one. See [monitoring](monitoring.md).',
    default: 'none: the service shows no metrics',
    parse: (text) => (text === undefined ? undefined : integerBetween(0, 65535, 0)(text)),
  }),
  METRICS_HOST: setting({
    meaning: 'Address to listen on for metrics. Everybody who reaches it can read them.',
    default: '127.0.0.1',
    parse: (text) => text ?? '127.0.0.1',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting({
    meaning:
      'Receiver of traces by OTLP over HTTP, such as `http://127.0.0.1:4318`. The other standard variables `OTEL_EXPORTER_OTLP_*` of this exporter work too.',
    default: 'none: the service makes no traces',
    parse: urlWithProtocol('http:', 'https:'),
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: setting({
    meaning: 'The same for traces alone, with the whole path.',
    default: '`OTEL_EXPORTER_OTLP_ENDPOINT` with `/v1/traces`',
    parse: urlWithProtocol('http:', 'https:'),
  }),
  OTEL_SERVICE_NAME: setting({
    meaning: 'Name of the service in traces.',
    default: 'stamm',
    parse: (text) => text ?? 'stamm',
  }),
  OTEL_TRACES_SAMPLER_ARG: setting({
    meaning:
      'Share of requests that are traced, from 0 to 1. A request with `traceparent` follows the decision of its sender.',
    default: '1',
    parse: (text = '1') => {
      const share = /^\d(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
      if (!(share >= 0 && share <= 1)) throw new Error('must be a number from 0 to 1');
      return share;
    },
  }),
  REDIS_URL: setting({
    meaning:
      'A Redis or Valkey that counts requests for the rate limit instead of PostgreSQL, and allows `EVAL`. While it is away, PostgreSQL counts.',
    default: 'none',
    parse: urlWithProtocol('redis:', 'rediss:'),
  }),
  RATE_LIMIT_PER_MINUTE: setting({
    meaning: 'Requests that one tenant may send per minute.',
    default: '6000',
    parse: integerBetween(1, 1_000_000_000, 6000),
  }),
  FAILED_AUTH_LIMIT_PER_MINUTE: setting({
    meaning:
      'Requests without a valid key that one network (IPv6: /64) may send per minute before they are answered with 429. Replaced and deleted keys count too.',
    default: '600',
    parse: integerBetween(1, 1_000_000_000, 600),
  }),
  ENDED_KEY_USE_RETENTION_DAYS: setting({
    meaning:
      'How many days Settings names a sender of a replaced or deleted key after its last request. Long enough to find a system that runs once a quarter.',
    default: '90',
    parse: integerBetween(1, 3650, 90),
  }),
  REQUEST_DEADLINE_MS: setting({
    meaning:
      'How long a request may wait for the database, in milliseconds, before it is answered with 500. The default answers within two seconds even without a database. Raise it on a slow machine.',
    default: '1800',
    parse: integerBetween(100, 600_000, 1800),
  }),
  LOG_ONE_IN: setting({
    meaning:
      'Log one in so many successful requests. Rejected, failed and slow requests always leave a line, and so do misspelt fields. 1 logs all.',
    default: '1',
    parse: integerBetween(1, 1_000_000, 1),
  }),
  SLOW_REQUEST_MS: setting({
    meaning:
      'A request that takes so many milliseconds leaves a second log line, which says where the time went. 0 turns this off.',
    default: '1000',
    parse: integerBetween(0, 600_000, 1000),
  }),
  BODY_LIMIT_BYTES: setting({
    meaning: 'Longest request body, in bytes.',
    default: '102400',
    parse: integerBetween(1024, 100 * 1024 * 1024, 102_400),
  }),
  IMPORT_TRANSACTION_MAX_MINUTES: setting({
    meaning:
      'How long an import may keep one transaction open (all or nothing, dry run), in minutes, before it is undone. While one is open, PostgreSQL cannot clean up after anybody.',
    default: '60',
    parse: integerBetween(1, 1440, 60),
  }),
  TRUST_PROXY: setting({
    meaning:
      'Addresses or networks of the proxies in front of Stamm, separated by commas. Stamm believes their `X-Forwarded-For` and `X-Forwarded-Proto`. `loopback`, `linklocal` and `uniquelocal` name the usual ones. Without it all people behind a proxy share one address, and its limits.',
    default: 'none',
    parse: proxies,
  }),
  AUDIT_RETENTION_DAYS: setting({
    meaning:
      'How long the audit record is kept, in days. A year shows what happened before a misuse that is noticed late.',
    default: '365',
    parse: integerBetween(1, maxRetentionDays, 365),
  }),
  JOURNAL_CHANGES_RETENTION_DAYS: setting({
    meaning:
      'How long the journal keeps old and new values and names of people, in days. Three years cover the usual claims of customers; the entries themselves stay, because the change feed has no gaps.',
    default: '1095',
    parse: integerBetween(1, maxRetentionDays, 1095),
  }),
  RECORDED_CALLS_RETENTION_DAYS: setting({
    meaning:
      'How long recorded API calls are kept, in days. A month is enough to fix an integration, and refused bodies hold personal data.',
    default: '30',
    parse: integerBetween(1, maxRetentionDays, 30),
  }),
  WEBHOOK_ALLOW_HTTP: setting({
    meaning:
      'Whether webhooks may go to `http://` addresses, where everybody on the way can read them: `true` or `false`.',
    default: 'false',
    parse: (text) => oneOf(['true', 'false'], 'false')(text) === 'true',
  }),
  WEBHOOK_ALLOW_PRIVATE: setting({
    meaning:
      'Whether webhooks may go to private, local and link-local addresses, also by `http://`: `true` or `false`. Every person with the role Office can then send requests into the network of the service.',
    default: 'false',
    parse: (text) => oneOf(['true', 'false'], 'false')(text) === 'true',
  }),
  PUBLIC_URL: setting({
    meaning:
      'Address at which people reach the office, such as `https://stamm.example`; used for links and passkeys.',
    default: 'the address of the request',
    parse: (text) => {
      const url = urlWithProtocol('http:', 'https:')(text);
      if (url === undefined) return undefined;
      const { origin, pathname, search, hash } = new URL(url);
      if (pathname !== '/' || search || hash) throw new Error('must be an address without a path');
      return origin;
    },
  }),
  MAP_TILES_URL: setting({
    meaning:
      'Tiles of the map in the office: `https://tiles.example/{z}/{x}/{y}.png` for pictures, or the address of a MapLibre style. All parts of a style are on the same host. Browsers ask this host directly. Needs `MAP_ATTRIBUTION`.',
    default: 'none: the map shows outlines, towns and postcodes',
    parse: (text, { MAP_ATTRIBUTION }) => {
      const url = urlWithProtocol('http:', 'https:')(text);
      if (url !== undefined && !MAP_ATTRIBUTION) throw new Error('needs MAP_ATTRIBUTION, the licence line');
      const hasPlaces = url?.includes('{') ?? false;
      if (hasPlaces && !['{z}', '{x}', '{y}'].every((place) => url!.includes(place)))
        throw new Error('must hold {z}, {x} and {y}, or none of them');
      return url;
    },
  }),
  MAP_TILES_FILE: setting({
    meaning:
      'PMTiles file with tiles of the map, such as `/srv/stamm/germany.pmtiles`, instead of `MAP_TILES_URL`: a basemap of Protomaps, or pictures. Browsers ask Stamm only. Each node needs the file. See [the map](map.md).',
    default: 'none',
    parse: (text, { MAP_TILES_URL }) => {
      if (text !== undefined && MAP_TILES_URL) throw new Error('cannot go with MAP_TILES_URL: choose one');
      return text === undefined ? undefined : path.resolve(text);
    },
  }),
  MAP_ATTRIBUTION: setting({
    meaning: 'Licence line of the tiles, such as `© OpenStreetMap contributors`; shown beside the map.',
    default: 'none; with `MAP_TILES_FILE` that of the file',
    parse: (text) => text,
  }),
  GEOCODER_URL: setting({
    meaning:
      "Search address of a geocoder with Nominatim's interface, such as `https://nominatim.example/search`. Stamm asks it for sites without a position, at most once per second; people accept each answer. Addresses of sites leave the house.",
    default: 'none: positions come from postcodes only',
    parse: urlWithProtocol('http:', 'https:'),
  }),
  SMTP_URL: setting({
    meaning:
      'Mail server for invitations, reset links and security notices: `smtp://user:password@host:587`, or `smtps://` for TLS from the first byte. Needs `PUBLIC_URL`.',
    default: 'none: Stamm sends no mail',
    parse: (text, { PUBLIC_URL }) => {
      const url = urlWithProtocol('smtp:', 'smtps:')(text);
      // A link in a mail must not lead to an address that the request itself names.
      if (url !== undefined && !PUBLIC_URL) throw new Error('needs PUBLIC_URL, for the links in mails');
      return url;
    },
  }),
  MAIL_FROM: setting({
    meaning: 'Sender of mails.',
    default: '`Stamm <stamm@HOST>` with the host of `PUBLIC_URL`',
    parse: (text, { PUBLIC_URL }) => {
      if (text !== undefined && /[\r\n]/.test(text)) throw new Error('must be one line');
      const host = PUBLIC_URL && URL.canParse(PUBLIC_URL) ? new URL(PUBLIC_URL).hostname : 'localhost';
      return text ?? `Stamm <stamm@${host}>`;
    },
  }),
  BACKUP_DIR: setting({
    meaning:
      'Folder in which the running service keeps backups of everything; `off` makes none. It should be on another disk, and the account of the service must be able to write to it.',
    default: '`backups` in `DATA_DIR`; none with `DATABASE_URL`',
    parse: (text, { DATABASE_URL, DATA_DIR }): string | undefined => {
      if (text === 'off') return undefined;
      if (text !== undefined) return path.resolve(text);
      return DATABASE_URL ? undefined : backupsIn(settings.DATA_DIR.parse(DATA_DIR || undefined, {}));
    },
  }),
  BACKUP_EVERY: setting({
    meaning: 'Hours from one backup in `BACKUP_DIR` to the next.',
    default: '24',
    parse: integerBetween(1, 24 * 366, 24),
  }),
  BACKUP_KEEP: setting({
    meaning: 'How many backups in `BACKUP_DIR` are kept; older ones are deleted.',
    default: '14',
    parse: integerBetween(1, 10_000, 14),
  }),
  BACKUP_PASSPHRASE: setting({
    meaning: 'Encrypts backups, and decrypts them at `restore`. Without it an encrypted backup is lost.',
    default: 'none: backups are not encrypted',
    parse: (text) => text,
  }),
  LOG_LEVEL: setting({
    meaning:
      'Log level: `fatal`, `error`, `warn`, `info`, `debug` or `silent`. `info` has a line per request, `debug` also one per SQL statement, with its time and rows.',
    default: 'info',
    parse: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], 'info'),
  }),
} satisfies Record<string, Setting<unknown>>;

export type Config = { [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]['parse']> };

export class ConfigError extends Error {}

/** Reads all settings; throws one ConfigError that names everything that is wrong. An empty variable counts as not set. */
export function readConfig(environment: Environment): Config {
  const wrong: string[] = [];
  const entries = Object.entries(settings).map(([name, { parse }]) => {
    try {
      return [name, parse(environment[name] || undefined, environment)];
    } catch (error) {
      wrong.push(`${name} ${(error as Error).message}`);
      return [name, undefined];
    }
  });
  if (wrong.length > 0) throw new ConfigError(`These settings are wrong:\n  ${wrong.join('\n  ')}`);
  return Object.fromEntries(entries);
}
