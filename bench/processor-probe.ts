// Some machines' processors do next to nothing for some hundredths of a second now and then, such as those of guests whose
// host is busy with them; the guest is told nothing of it. Such moments are in every p99, whatever runs: how much of the
// time they take belongs beside the figures.
import { median } from './statistics.ts';

const sliceMs = 5;
const stepsBetweenLooks = 1000;
/** Work that needs no memory. */
let state = 1;

function workFor(milliseconds: number): number {
  const endsAt = performance.now() + milliseconds;
  let looks = 0;
  for (; performance.now() < endsAt; looks++) {
    for (let step = 0; step < stepsBetweenLooks; step++) state = (Math.imul(state, 1664525) + 1013904223) | 0;
  }
  return looks;
}

/** The share of the time in which a processor does less than a third of its usual work. */
export function measureSlowTime(milliseconds: number): number {
  workFor(200);
  const slices = Array.from({ length: milliseconds / sliceMs }, () => workFor(sliceMs));
  const usual = median(slices);
  return slices.filter((done) => done < usual / 3).length / slices.length;
}
