// Delays 429 answers to clients that ignore Retry-After, so that a flood becomes a trickle.
import { setTimeout as sleep } from 'node:timers/promises';

const shortestDelayMs = 100;
const longestDelayMs = 10_000;
/** Holds a sender with any number of connections to 500 refusals per second. */
const delayPerRefusalMs = 2;

const waitingBySender = new Map<string, number>();

/** A sender is a tenant or an address. Its requests must have left the in-flight limit before. */
export async function delayRefusal(sender: string): Promise<void> {
  const waiting = (waitingBySender.get(sender) ?? 0) + 1;
  waitingBySender.set(sender, waiting);
  await sleep(Math.min(Math.max(shortestDelayMs, waiting * delayPerRefusalMs), longestDelayMs));
  const rest = waitingBySender.get(sender)! - 1;
  if (rest > 0) waitingBySender.set(sender, rest);
  else waitingBySender.delete(sender);
}
