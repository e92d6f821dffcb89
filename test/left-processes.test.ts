import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { test } from 'node:test';
import { until, within } from './helpers/waiting.ts';

const file = `
  import { spawn } from 'node:child_process';
  import { test } from 'node:test';
  import ${JSON.stringify(path.join(import.meta.dirname, './helpers/left-processes.ts'))};
  test('waits', async () => {
    const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    console.log('started ' + child.pid + '.');
    await new Promise((resolve) => setTimeout(resolve, 600_000));
  });`;

test('a test file that SIGTERM ends leaves no program running', async () => {
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const child = spawn(process.execPath, ['--input-type=module', '-e', file], { env, stdio: 'pipe' });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  await until('its program runs', () => /started \d+\./.test(output));
  const pid = Number(/started (\d+)\./.exec(output)![1]);
  assert.ok(isRunning(pid));
  child.kill('SIGTERM');
  await within('its end', once(child, 'exit'));
  await until('the end of its program', () => !isRunning(pid));
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
