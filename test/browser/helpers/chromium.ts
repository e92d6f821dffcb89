import { type Browser, chromium } from 'playwright-core';
import { chromium as quickest } from '../../helpers/programs.ts';

const quietFlags = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A real Chromium of this machine. */
export async function launchChromium(
  flags: readonly string[] = [],
  executablePath = quickest!,
): Promise<Browser> {
  return chromium.launch({
    executablePath,
    headless: true,
    // Root and most containers have no sandbox, and the tests open only our own pages.
    chromiumSandbox: false,
    args: [...quietFlags, ...flags],
  });
}
