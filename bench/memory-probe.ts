// Some machines make all memory slow for some hundredths of a second now and then, such as guests whose host looks through
// their pages. No service is quicker than its memory, and such moments are in every p99: how much of the time they take
// belongs beside the figures.

const pages = 50_000;
const pageBytes = 4096;
/** So many times the usual time for the same pages is slow. */
const slowFactor = 3;

/** The share of the time in which reading a byte of each of many pages takes much longer than usual. */
export function measureSlowMemory(milliseconds: number): number {
  const memory = new Uint8Array(pages * pageBytes).fill(1);
  const times: number[] = [];
  const endsAt = performance.now() + milliseconds;
  for (let startedAt = performance.now(); startedAt < endsAt; startedAt = performance.now()) {
    for (let at = 0; at < memory.length; at += pageBytes) memory[at]!++;
    times.push(performance.now() - startedAt);
  }
  const usual = times.toSorted((one, other) => one - other)[times.length >> 1]!;
  const slow = times.filter((time) => time > usual * slowFactor);
  return slow.reduce((sum, time) => sum + time, 0) / milliseconds;
}
