// Plans when decided intents are written. Writes that do not concern each other share a statement. Time is counted in
// rounds of phases: insertions with owners first, changes, deletions with dependants first.
import type { Row } from '../definition/validation.ts';
import type { Intent } from './intent.ts';
import type { WrittenResource } from './resource.ts';

export const phases = { restore: 0, insert: 1, update: 2, delete: 3 } as const;
export type Phase = keyof typeof phases;
const phaseCount = Object.keys(phases).length;

export interface Write {
  intent: Intent;
  resource: WrittenResource;
  row: Row & { tenant_id: string; id: string };
  /** Objects that have waited for its name, and change with it. */
  linked?: readonly string[];
}

/** Everything that decides which writes a write must follow. */
interface Concerns {
  /** Objects that it writes, and names for which the order matters. */
  ids: readonly string[];
  takes: readonly string[];
  frees: readonly string[];
  /** Names that nobody has yet. A link is made as soon as both sides are there. */
  waitsFor: readonly string[];
  /** Owners of the objects, before or after the write. */
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
      if (phase === 'insert' || phase === 'restore')
        for (const { row } of writes) insertedAt.set(row.id, time);
      for (const key of concerns.frees) freedAt.set(key, time);
      for (const key of concerns.waitsFor) awaitedAt.set(key, Math.max(awaitedAt.get(key) ?? 0, time));
      for (const id of concerns.owners) belongedAt.set(id, Math.max(belongedAt.get(id) ?? 0, time));
    },
    steps: (): Step[] => [...steps].sort(([one], [other]) => one - other).map(([, step]) => step),
  };
}

/** Whether a write gives its object a name that it did not have. */
export function bringsName(phase: Phase, { external_id: name, changes }: Row): boolean {
  if (phase === 'delete' || name === undefined) return false;
  return phase !== 'update' || Object.hasOwn(changes as object, 'externalId');
}

/** Intents that were decided on top of a leader: they write its object once more, or refer to one that it names. */
export function findFollowers(
  steps: readonly Step[],
  isLeader: (intent: Intent) => boolean = () => true,
): Set<Intent> {
  const namers = new Map<string, Intent>();
  for (const { phase, writes } of steps)
    for (const { row, intent } of [...writes.values()].flat())
      if (bringsName(phase, row)) namers.set(row.id, intent);
  const writers = new Map<string, Intent[]>();
  const followers = new Set<Intent>();
  for (const { writes } of steps) {
    for (const { intent, resource, row, linked = [] } of [...writes.values()].flat()) {
      const named = resource.references.map(({ column }) => namers.get(String(row[column.name])));
      const leaders = [...(writers.get(row.id) ?? []), ...named];
      if (leaders.some((one) => one && one !== intent && isLeader(one))) followers.add(intent);
      for (const id of [row.id, ...linked]) writers.getOrInsertComputed(id, () => []).push(intent);
    }
  }
  return followers;
}
