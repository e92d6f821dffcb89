import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const installedPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const quietFlags = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A real Chromium, whichever this machine has. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium() ?? (await installChromium()),
    headless: true,
    // Root and most containers have no sandbox, and the tests open only our own pages.
    chromiumSandbox: false,
    args: quietFlags,
  });
}

function findChromium(): string | undefined {
  const chosen = process.env.CHROMIUM_PATH;
  if (!chosen) return installedPaths.find((path) => existsSync(path));
  if (!existsSync(chosen)) throw new Error(`CHROMIUM_PATH names ${chosen}, which does not exist.`);
  return chosen;
}

/** Test files run side by side: the first that finds no Chromium installs it, the others wait for it. */
const aptInstall = `test -e /usr/bin/chromium ||
  { apt-get update && apt-get install -y --no-install-recommends chromium; }`;

async function installChromium(): Promise<string> {
  const advice = 'Install Chromium or Google Chrome, or set CHROMIUM_PATH to its program.';
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) {
    throw new Error(`The browser tests need a Chromium, and none was found. ${advice}`);
  }
  try {
    await promisify(execFile)('flock', ['/var/lock/stamm-chromium', 'sh', '-c', aptInstall], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  } catch (cause) {
    throw new Error(`The browser tests need a Chromium, and apt-get could not install it. ${advice}`, {
      cause,
    });
  }
  return '/usr/bin/chromium';
}
