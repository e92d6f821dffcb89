import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { FastifyBaseLogger } from 'fastify';

const script = path.resolve(import.meta.dirname, '../../web/build.ts');

/**
 * Builds the web app if it is missing or older than its sources. In a process of its own, since the builder needs much
 * memory once. Without the web app the API still serves. A release brings it built, without its sources.
 */
export async function buildWeb(log: FastifyBaseLogger, stop: AbortSignal): Promise<void> {
  if (!existsSync(script)) return;
  try {
    await promisify(execFile)(process.execPath, [script], { signal: stop });
  } catch (error) {
    if (!stop.aborted) log.warn({ err: error }, 'the web app could not be built');
  }
}
