// Pauses before a failed request to another server is tried again.

const secondsPerMinute = 60;
const secondsPerHour = 3600;

/** Pauses after the first failure, the second, and so on; the last one repeats. */
const pausesSeconds = [
  5,
  30,
  2 * secondsPerMinute,
  10 * secondsPerMinute,
  30 * secondsPerMinute,
  secondsPerHour,
  2 * secondsPerHour,
  4 * secondsPerHour,
  8 * secondsPerHour,
];

/** A receiver that asks for more is tried again after a day. */
const longestPauseSeconds = 24 * secondsPerHour;

/** Makes pauses up to a fifth longer, at random: receivers that failed together are not tried together. */
const jitter = 0.2;

export function pauseSecondsAfter(failures: number, retryAfterSeconds = 0, random = Math.random()): number {
  const pause = pausesSeconds[Math.min(failures, pausesSeconds.length) - 1]!;
  return Math.min(Math.max(pause * (1 + jitter * random), retryAfterSeconds), longestPauseSeconds);
}

/** Seconds, or a date, as HTTP allows both; undefined for anything else. */
export function readRetryAfter(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000);
}
