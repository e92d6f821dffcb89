// The attention list and its counts, from findings in memory.
import { type AttentionCheck, maxDuplicates } from '../../engine/attention/attention-checks.ts';
import type { AttentionCount } from './attention-counts.ts';
import type { Pass } from './attention-passes.ts';
import { type Finding, firstPlace, type Part, type Place } from './attention-scan.ts';

/** What was found in one object. */
export interface Found {
  id: string;
  open: ReadonlySet<AttentionCheck>;
  /** Its duplicates by id, also of an entry that is left as it is. */
  twins: readonly string[];
}

/** The same page as from the database. `found` is in the order of ids. */
export function pageOf(
  found: readonly Found[],
  passes: readonly Pass[],
  { from = firstPlace, limit }: { from?: Place; limit: number },
): Part {
  const findings: Finding[] = [];
  for (const [pass, { checks, isWanted }] of passes.entries()) {
    if (pass < from.pass) continue;
    for (const { id, open, twins } of found) {
      if (pass === from.pass && id < from.id) continue;
      for (const [number, check] of checks.entries()) {
        if (!open.has(check) || !isWanted(check)) continue;
        if (pass === from.pass && id === from.id && number <= from.check) continue;
        const at = { pass, id, check: number };
        findings.push({ check, id, others: check.group ? twins.slice(0, maxDuplicates) : null, at });
        if (findings.length === limit) return { findings, next: at };
      }
    }
  }
  return { findings, next: undefined };
}

export function countsOf(found: readonly Found[], passes: readonly Pass[]): AttentionCount[] {
  const counts = new Map<string, AttentionCount>();
  for (const { resource, code } of passes.flatMap(({ checks, isWanted }) => checks.filter(isWanted)))
    counts.set(`${resource} ${code}`, { resource, code, count: 0 });
  for (const check of found.flatMap(({ open }) => [...open])) {
    const counted = counts.get(`${check.resource} ${check.code}`);
    if (counted) counted.count++;
  }
  return [...counts.values()].filter(({ count }) => count > 0);
}
