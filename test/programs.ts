// Programs that some tests need of the machine. Where one is missing its tests are skipped, and `npm test` says how to get it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

function findProgram(names: readonly string[], versionFlag: string): string | undefined {
  return names.find((name) => !spawnSync(name, [versionFlag]).error);
}

/** What node:test takes as `skip`. */
function unless(program: string | undefined, missing: string): string | false {
  return program === undefined && missing;
}

export const redis = findProgram(['redis-server', 'valkey-server'], '--version');
export const withoutRedis = unless(redis, 'Redis is missing: apt-get install redis-server');

// Debian keeps it where only root looks.
export const varnish = findProgram(['varnishd', '/usr/sbin/varnishd'], '-V');
export const withoutVarnish = unless(varnish, 'Varnish is missing: apt-get install varnish');

const chromiumPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

function findChromium(): string | undefined {
  const chosen = process.env.CHROMIUM_PATH;
  if (!chosen) return chromiumPaths.find((path) => existsSync(path));
  if (!existsSync(chosen)) throw new Error(`CHROMIUM_PATH names ${chosen}, which does not exist.`);
  return chosen;
}

export const chromium = findChromium();
export const withoutChromium = unless(
  chromium,
  'Chromium is missing: apt-get install chromium, or set CHROMIUM_PATH',
);

const postgres15Path = '/usr/lib/postgresql/15/bin';
export const postgres15 = existsSync(postgres15Path) ? postgres15Path : undefined;
export const withoutPostgres15 = unless(
  postgres15,
  'PostgreSQL 15 is missing: apt-get install postgresql-15',
);
