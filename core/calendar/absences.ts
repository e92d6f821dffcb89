// Finds who comes while an employee is absent: a substitute, the substitute's substitute, or nobody.
import { fromDayNumber, remember } from './calendar-days.ts';

export interface Absence {
  readonly employeeId: string;
  readonly from: string;
  readonly until: string;
  readonly substituteEmployeeId?: string | undefined;
}

/** The employee who comes on a day in place of this one. Undefined if everybody concerned is absent. */
export type Cover = (employeeId: string, day: number) => string | undefined;

/** A longer chain of substitutes is a mistake. */
const longestChain = 50;

/** Slightly more days than one request asks for. */
const maxDays = 100;

/** Looks up each employee and day once: a day has many visits of one employee. */
export function toCover(absences: readonly Absence[]): Cover {
  if (absences.length === 0) return (employeeId) => employeeId;

  /** Maps the employees who are absent on a day to their substitutes. */
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
      // Two absent people who cover each other cover nobody.
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
