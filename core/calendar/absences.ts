// Who comes while an employee is absent: the substitute, that one's substitute, or nobody.
import { fromDayNumber, remember } from './calendar-days.ts';

export interface Absence {
  readonly employeeId: string;
  readonly from: string;
  readonly until: string;
  readonly substituteEmployeeId?: string | undefined;
}

/** The employee who comes on a day in place of this one. Undefined if everybody concerned is absent. */
export type Cover = (employeeId: string, day: number) => string | undefined;

/** Substitutes of substitutes: more is a mistake. */
const longestChain = 50;

/** Somewhat more than a request asks for. */
const maxDays = 100;

/** Asked once for each employee and day: a day has many visits of one employee. */
export function toCover(absences: readonly Absence[]): Cover {
  if (absences.length === 0) return (employeeId) => employeeId;

  /** By employee who is absent, whom the absences name. */
  const absentOn = remember((day: number) => {
    const date = fromDayNumber(day);
    const substitutes = new Map<string, Set<string | undefined>>();
    for (const { employeeId, from, until, substituteEmployeeId } of absences)
      if (from <= date && date <= until)
        substitutes.getOrInsertComputed(employeeId, () => new Set()).add(substituteEmployeeId);
    return substitutes;
  }, maxDays);

  function find(employeeId: string, day: number, asked: Set<string>): string | undefined {
    asked.add(employeeId);
    const substitutes = absentOn(day).get(employeeId);
    if (!substitutes) return employeeId;
    for (const substitute of substitutes) {
      // Two who cover each other, both absent, cover nobody.
      if (substitute === undefined || asked.has(substitute)) continue;
      if (asked.size >= longestChain) return undefined;
      const found = find(substitute, day, asked);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  const known = remember((key: string) => {
    const [employeeId = '', day] = key.split(' ');
    return { employeeId: find(employeeId, Number(day), new Set()) };
  });
  return (employeeId, day) => known(`${employeeId} ${day}`).employeeId;
}

/** These employees, and all whose visits can come to them. */
export function coveredBy(absences: readonly Absence[], employees: ReadonlySet<string>): string[] {
  const bySubstitute = Map.groupBy(absences, ({ substituteEmployeeId }) => substituteEmployeeId);
  const found = new Set(employees);
  for (const id of found) for (const { employeeId } of bySubstitute.get(id) ?? []) found.add(employeeId);
  return [...found];
}
