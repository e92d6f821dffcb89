// Visits that follow from the master data.
import type { FastifyInstance } from 'fastify';
import type { Database } from '../../database/database.ts';
import { languageOf, linkNextPage } from '../../http/conventions.ts';
import { InterruptedPages } from '../../http/interrupted-pages.ts';
import { paceOf } from '../../http/request-pace.ts';
import type { Language } from '../../messages.ts';
import { approximatePositionOf } from '../../resources/site-plan.ts';
import { reporterOf } from '../../telemetry/record-net.ts';
import { type ConflictsOf, readDayConflicts } from './day-loads.ts';
import { type Details, readDetails } from './visit-details.ts';
import { visitDocs } from './visit-docs.ts';
import { findVisits, type SiteVisit } from './visit-page.ts';
import { encodeCursor, type Place, parseVisitRequest, type VisitInclusion } from './visit-request.ts';

/** Time for the rest of the answer. */
const [reserveMs, laterReserveMs] = [900, 500];

export async function visitRoutes(api: FastifyInstance, { database }: { database: Database }): Promise<void> {
  const interrupted = new InterruptedPages<Place>();
  api.get<{ Querystring: Record<string, unknown> }>(
    '/visits',
    { schema: visitDocs, config: { isHeavyRead: true } },
    async (request, reply) => {
      const asked = parseVisitRequest(request.query);
      const language = languageOf(request);
      const { tenantId, deadline, log } = request;
      const reader = {
        tenantId,
        deadline,
        pace: paceOf(request, reserveMs),
        report: reporterOf(log, 'visits'),
      };
      const { visits, next } = await findVisits(database, reader, asked, interrupted);
      const laterReader = { ...reader, pace: paceOf(request, laterReserveMs) };
      const conflictsOf = await readDayConflicts(database, laterReader, visits);
      const details = await readDetails(database, request, visits, asked.inclusions);
      const nextCursor = next ? encodeCursor(asked, next) : null;
      if (nextCursor) linkNextPage(request, reply, nextCursor);
      return {
        data: visits.map((found) => represent(found, { details, conflictsOf }, asked.inclusions, language)),
        nextCursor,
      };
    },
  );
}

function represent(
  found: SiteVisit,
  { details, conflictsOf }: { details: Details; conflictsOf: ConflictsOf },
  inclusions: ReadonlySet<VisitInclusion>,
  language: Language,
) {
  const { site, visit } = found;
  const employee = details('employee', found);
  const needsEmployee = employee?.json.active !== true && visit.status !== 'CANCELLED';
  const member = (name: 'customer' | 'contactPerson') =>
    inclusions.has(name) ? details(name, found)?.json : undefined;
  const externalId = (name: 'site' | 'customer' | 'employee') =>
    inclusions.has('externalIds') ? (details(name, found)?.externalId ?? undefined) : undefined;
  return {
    date: visit.date,
    siteId: site.id,
    customerId: site.customerId,
    employeeId: found.employeeId,
    absentEmployeeId: found.absentEmployeeId,
    status: visit.status,
    plannedDate: visit.appointment?.plannedDate,
    movedFrom: visit.movedFrom,
    reason: visit.reason,
    holiday: visit.holiday?.[language],
    windows: visit.windows,
    timeZone: site.timeZone,
    durationInMinutes: visit.durationInMinutes,
    preparationInMinutes: site.preparationInMinutes,
    appointmentId: visit.appointment?.id,
    appointmentStatus: visit.appointment?.status,
    appointmentComment: visit.appointment?.comment,
    conflicts: [
      ...visit.conflicts,
      ...(needsEmployee ? (['no_employee'] as const) : []),
      ...conflictsOf(found),
    ],
    siteExternalId: externalId('site'),
    customerExternalId: externalId('customer'),
    employeeExternalId: externalId('employee'),
    site: inclusions.has('site')
      ? { ...details('site', found)?.json, approximateLocation: approximatePositionOf(site.row) }
      : undefined,
    customer: member('customer'),
    employee:
      employee && inclusions.has('employee')
        ? { firstName: employee.json.firstName, lastName: employee.json.lastName }
        : undefined,
    contactPerson: member('contactPerson'),
  };
}
