// Programs of the machine that some tests need. Without one its tests are skipped, and `npm test` says how to install it.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';

/** Debian keeps servers in a folder that only root searches. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin'];
  return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
}

/** The value for `skip` of node:test. */
function unless(program: string | undefined, missing: string): string | false {
  return program === undefined && missing;
}

export const redis = findProgram('redis-server') ?? findProgram('valkey-server');
export const withoutRedis = unless(redis, 'Redis is missing: apt-get install redis-server');

export const varnish = findProgram('varnishd');
export const withoutVarnish = unless(varnish, 'Varnish is missing: apt-get install varnish');

export const haproxy = findProgram('haproxy');
export const withoutHAProxy = unless(haproxy, 'HAProxy is missing: apt-get install haproxy');

export const promtool = findProgram('promtool');
export const withoutPromtool = unless(promtool, 'promtool is missing: apt-get install prometheus');

const chromiumPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

function findChromium(places: readonly string[]): string | undefined {
  const chosen = process.env.CHROMIUM_PATH;
  if (!chosen) return places.find((file) => existsSync(file));
  if (!existsSync(chosen)) throw new Error(`CHROMIUM_PATH names ${chosen}, which does not exist.`);
  return chosen;
}

/** Debian's `chromium-headless-shell` has no camera, and takes two thirds of the processor time. */
export const chromium = findChromium(['/usr/bin/chromium-headless-shell', ...chromiumPaths]);
export const chromiumWithCamera = findChromium(chromiumPaths);
export const withoutChromium = unless(
  chromium,
  'Chromium is missing: apt-get install chromium, or set CHROMIUM_PATH',
);
export const withoutCamera = unless(
  chromiumWithCamera,
  'Chromium with a camera is missing: apt-get install chromium, or set CHROMIUM_PATH',
);

const postgres15Path = '/usr/lib/postgresql/15/bin';
export const postgres15 = existsSync(postgres15Path) ? postgres15Path : undefined;
export const withoutPostgres15 = unless(
  postgres15,
  'PostgreSQL 15 is missing: apt-get install postgresql-15',
);

/** The programs of the newest PostgreSQL that Debian installed. */
export const [newestPostgres] = globSync('/usr/lib/postgresql/*/bin').sort().reverse();

const shellPrograms = ['curl', 'jq', 'openssl'].map(findProgram);
const isShellReady = shellPrograms.includes(undefined) ? undefined : 'sh';
export const withoutCurl = unless(
  isShellReady,
  'curl, jq or openssl is missing: apt-get install curl jq openssl',
);

export const python = findProgram('python3');
export const withoutPython = unless(python, 'Python is missing: apt-get install python3');

const phpModules = spawnSync('php', ['-m'], { encoding: 'utf8' }).stdout ?? '';
export const php = phpModules.includes('curl') ? 'php' : undefined;
export const withoutPhp = unless(php, 'PHP with curl is missing: apt-get install php-cli php-curl');

const dotnetVersion = spawnSync('dotnet', ['--version'], { encoding: 'utf8' }).stdout ?? '';
export const dotnet = Number.parseInt(dotnetVersion, 10) >= 10 ? 'dotnet' : undefined;
export const withoutDotnet = unless(
  dotnet,
  '.NET 10 is missing: apt-get install dotnet-sdk-10.0 on Ubuntu, https://dotnet.microsoft.com/download elsewhere',
);

/** A library that gives a program another clock. */
export const [faketime] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');
export const withoutFaketime = unless(faketime, 'libfaketime is missing: apt-get install faketime');
