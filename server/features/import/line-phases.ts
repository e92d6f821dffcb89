// Lines of a chunk in phases: each writes first and deletes then. Lines that do not concern each other share a phase: a
// chunk takes few statements, in any order of lines.
import type { CheckedLine } from './line-check.ts';

export interface Phase {
  writes: CheckedLine[];
  deletions: CheckedLine[];
}

/** A write joins the deletions before it only if it names none of their objects. */
export function phasesOf(lines: readonly CheckedLine[]): Phase[] {
  const phases: Phase[] = [];
  let deleted = new Set<string>();
  let isClosed = false;
  for (const line of lines) {
    const isDeletion = line.action === 'delete';
    const names = isDeletion ? ownNames(line) : [...ownNames(line), ...referencedNames(line)];
    const mustFollow = names.some((name) => deleted.has(name)) || (isClosed && !isDeletion);
    if (phases.length === 0 || mustFollow) {
      phases.push({ writes: [], deletions: [] });
      deleted = new Set();
      isClosed = false;
    }
    const { writes, deletions } = phases.at(-1)!;
    (isDeletion ? deletions : writes).push(line);
    if (!isDeletion) continue;
    for (const name of names) deleted.add(name);
    // It deletes objects whose external ids are unknown here.
    isClosed ||= line.isCascade || line.checked.row.external_id === undefined;
  }
  return phases;
}

function ownNames({ resource, checked }: CheckedLine): string[] {
  const { external_id: externalId } = checked.row;
  return externalId === undefined ? [] : [`${resource.definition.name} ${externalId}`];
}

function referencedNames({ resource, checked }: CheckedLine): string[] {
  return resource.references.flatMap(({ externalColumn, resources }) => {
    const externalId = checked.row[externalColumn];
    return externalId === undefined ? [] : resources.map((name) => `${name} ${externalId}`);
  });
}
