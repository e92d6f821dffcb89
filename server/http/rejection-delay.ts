// Delays 429 answers to clients that ignore Retry-After, to slow a flood down.
import { setTimeout as sleep } from 'node:timers/promises';

const shortestDelayMs = 100;
const longestDelayMs = 10_000;
/** Holds a sender with any number of connections to 500 rejections per second. */
const delayPerRejectionMs = 2;

const waitingBySender = new Map<string, number>();

/** A sender is a tenant or an address. Its requests must have left the in-flight limit before. */
export async function delayRejection(sender: string): Promise<void> {
  const waiting = (waitingBySender.get(sender) ?? 0) + 1;
  waitingBySender.set(sender, waiting);
  await sleep(Math.min(Math.max(shortestDelayMs, waiting * delayPerRejectionMs), longestDelayMs));
  const rest = waitingBySender.get(sender)! - 1;
  if (rest > 0) waitingBySender.set(sender, rest);
  else waitingBySender.delete(sender);
}
