// Delays 429 answers to clients that ignore Retry-After, to slow a flood down.
import { setTimeout as sleep } from 'node:timers/promises';
import { Tally } from '../../core/tally.ts';

const shortestDelayMs = 100;
const longestDelayMs = 10_000;
/** Holds a sender with any number of connections to 500 rejections per second. */
const delayPerRejectionMs = 2;

const waiting = new Tally();

/** A sender is a tenant or an address. Its requests must have left the in-flight limit before. */
export async function delayRejection(sender: string): Promise<void> {
  const delayMs = waiting.add(sender) * delayPerRejectionMs;
  await sleep(Math.min(Math.max(shortestDelayMs, delayMs), longestDelayMs));
  waiting.remove(sender);
}
