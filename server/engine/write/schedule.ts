// When what was decided is written. Writes that do not concern each other share a statement. Time is counted in
// rounds of three phases: insertions with owners first, changes, deletions with dependants first.
import type { Row } from '../definition/validation.ts';
import type { Intent } from './intent.ts';
import type { WrittenResource } from './resource.ts';

export const phases = { insert: 0, update: 1, delete: 2 } as const;
export type Phase = keyof typeof phases;
const phaseCount = 3;

export interface Write {
  intent: Intent;
  resource: WrittenResource;
  row: Row & { tenant_id: string; id: string };
}

/** What a write has to come after. */
interface Concerns {
  /** Objects that it writes. */
  ids: readonly string[];
  takes: readonly string[];
  frees: readonly string[];
  /** Names that nobody has yet. A link is made as soon as both sides are there. */
  waitsFor: readonly string[];
  /** What they belong to, before or after it. */
  owners: readonly string[];
}

export interface Step {
  phase: Phase;
  writes: Map<WrittenResource, Write[]>;
}

export function buildSchedule() {
  const steps = new Map<number, Step>();
  const writtenAt = new Map<string, number>();
  const insertedAt = new Map<string, number>();
  const belongedAt = new Map<string, number>();
  const freedAt = new Map<string, number>();
  const awaitedAt = new Map<string, number>();

  /** The first time of this phase at which everything before has happened. */
  function timeFor(phase: Phase, { ids, takes, waitsFor, owners }: Concerns): number {
    let earliest = 0;
    for (const id of ids) earliest = Math.max(earliest, (writtenAt.get(id) ?? -1) + 1);
    for (const key of [...takes, ...waitsFor]) earliest = Math.max(earliest, (freedAt.get(key) ?? -1) + 1);
    for (const key of takes) earliest = Math.max(earliest, (awaitedAt.get(key) ?? -1) + 1);
    for (const id of owners) earliest = Math.max(earliest, insertedAt.get(id) ?? 0);
    if (phase === 'delete') for (const id of ids) earliest = Math.max(earliest, belongedAt.get(id) ?? 0);
    const rounds = Math.ceil((earliest - phases[phase]) / phaseCount);
    return Math.max(rounds, 0) * phaseCount + phases[phase];
  }

  return {
    add(phase: Phase, writes: readonly Write[], concerns: Concerns): void {
      const time = timeFor(phase, concerns);
      const step = steps.getOrInsertComputed(time, () => ({ phase, writes: new Map() }));
      for (const write of writes) step.writes.getOrInsertComputed(write.resource, () => []).push(write);
      for (const id of concerns.ids) writtenAt.set(id, time);
      if (phase === 'insert') for (const { row } of writes) insertedAt.set(row.id, time);
      for (const key of concerns.frees) freedAt.set(key, time);
      for (const key of concerns.waitsFor) awaitedAt.set(key, Math.max(awaitedAt.get(key) ?? 0, time));
      for (const id of concerns.owners) belongedAt.set(id, Math.max(belongedAt.get(id) ?? 0, time));
    },
    /** In their order. */
    steps: (): Step[] => [...steps].sort(([one], [other]) => one - other).map(([, step]) => step),
  };
}
