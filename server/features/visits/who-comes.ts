// Who comes to each visit: by appointment, as the site says, or in place of somebody who is absent.
import { type Absence, type Cover, coveredBy, toCover } from '../../../core/calendar/absences.ts';
import { fromDayNumber, toDayNumber } from '../../../core/calendar/calendar-days.ts';
import type { PlannedVisit } from '../../../core/calendar/visit-plan.ts';
import type { Database } from '../../database/database.ts';
import type { Conditions } from '../../engine/read/list-filters.ts';
import { absencesQuery, hasAppointment, toAbsence } from '../../resources/plan-exceptions.ts';
import type { Days, PlannedSite } from './planned-sites.ts';
import type { AskedEmployees } from './visit-request.ts';

export interface Comes {
  employeeId: string | undefined;
  /** Who would come but for an absence. */
  absentEmployeeId: string | undefined;
}

export interface WhoComes {
  /** Sites that can have a visit of the employees who are asked for. */
  conditions: Conditions;
  /** Undefined if somebody else comes than was asked for. */
  to(site: PlannedSite, visit: PlannedVisit): Comes | undefined;
}

interface Reader {
  tenantId: string;
  deadline: number;
}

export async function readWhoComes(
  database: Database,
  { tenantId, deadline }: Reader,
  asked: Conditions & { employees: AskedEmployees | undefined },
  days: Days,
): Promise<WhoComes> {
  const { externalId, ids } = asked.employees ?? {};
  const { rows, following } = await database.queryInTenants<Parameters<typeof toAbsence>[0]>(
    [tenantId],
    absencesQuery(tenantId, days),
    {
      deadline,
      followedBy: [
        {
          text: 'SELECT id FROM employee WHERE tenant_id = $1 AND (external_id = $2 OR $3)',
          values: [tenantId, externalId ?? null, asked.employees?.isNobody === true],
        },
      ],
    },
  );
  const absences = rows.map(toAbsence);
  const cover = toCover(absences);
  if (!asked.employees) return { conditions: asked, to: (site, visit) => comesTo(cover, site, visit) };
  const named: string[] = following[0]!.rows.map(({ id }) => id);
  if (asked.employees.isNobody)
    return {
      conditions: withoutEmployee(asked, { existing: named, absences }, days),
      to: onlyNobody(cover, new Set(named)),
    };
  const wanted = new Set(
    externalId === undefined ? ids : ids ? ids.filter((id) => named.includes(id)) : named,
  );
  const isAwaited = (site: PlannedSite) =>
    externalId !== undefined && ids === undefined && site.employeeExternalId === externalId;
  return {
    conditions: withEmployees(asked, { wanted, absences, awaited: ids ? undefined : externalId }, days),
    to(site, visit) {
      const comes = comesTo(cover, site, visit);
      const isWanted =
        comes.employeeId === undefined ? isAwaited(site) && !visit.appointment : wanted.has(comes.employeeId);
      return isWanted ? comes : undefined;
    },
  };
}

/** An id that names no employee is nobody. */
function onlyNobody(cover: Cover, existing: ReadonlySet<string>): WhoComes['to'] {
  return (site, visit) => {
    const comes = comesTo(cover, site, visit);
    return comes.employeeId === undefined || !existing.has(comes.employeeId) ? comes : undefined;
  };
}

function withoutEmployee(
  { conditions, values }: Conditions,
  { existing, absences }: { existing: readonly string[]; absences: readonly Absence[] },
  days: Days,
): Conditions {
  const place = values.length + 2;
  const [coming, first, last] = [place, place + 1, place + 2].map((number) => `$${number}`);
  const absent = new Set(absences.map(({ employeeId }) => employeeId));
  const ways = [
    'subject.assigned_employee_id IS NULL',
    `subject.assigned_employee_id <> ALL (${coming}::uuid[])`,
    hasAppointment(first!, last!),
  ];
  return {
    conditions: [...conditions, `(${ways.join(' OR ')})`],
    values: [
      ...values,
      existing.filter((id) => !absent.has(id)),
      fromDayNumber(days.first),
      fromDayNumber(days.last),
    ],
  };
}

function comesTo(cover: Cover, site: PlannedSite, visit: PlannedVisit): Comes {
  const assigned = visit.appointment?.employeeId ?? site.employeeId;
  const employeeId = assigned === undefined ? undefined : cover(assigned, toDayNumber(visit.date));
  return { employeeId, absentEmployeeId: employeeId === assigned ? undefined : assigned };
}

function withEmployees(
  { conditions, values }: Conditions,
  {
    wanted,
    absences,
    awaited,
  }: { wanted: ReadonlySet<string>; absences: readonly Absence[]; awaited: string | undefined },
  days: Days,
): Conditions {
  const place = values.length + 2;
  const [ids, first, last, name] = [place, place + 1, place + 2, place + 3].map((number) => `$${number}`);
  const ways = [
    `subject.assigned_employee_id = ANY (${ids}::uuid[])`,
    hasAppointment(first!, last!, ` AND agreed.employee_id = ANY (${ids}::uuid[])`),
    `subject.assigned_employee_external_id = ${name}`,
  ];
  return {
    conditions: [...conditions, `(${ways.join(' OR ')})`],
    values: [
      ...values,
      coveredBy(absences, wanted),
      fromDayNumber(days.first),
      fromDayNumber(days.last),
      awaited ?? null,
    ],
  };
}
