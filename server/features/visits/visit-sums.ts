// How many visits each employee has on each day, and how long they take: the sums of the board.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fromDayNumber } from '../../../core/calendar/calendar-days.ts';
import { takesPlace } from '../../../core/calendar/visit-status.ts';
import type { Steps } from '../../../core/pace.ts';
import type { Database } from '../../database/database.ts';
import { isOverloaded } from '../../database/errors.ts';
import { businessQuery } from '../../engine/attention/attention-findings.ts';
import { paceOf } from '../../http/request-pace.ts';
import { UnchangedReadings } from '../../http/unchanged-readings.ts';
import { reporterOf } from '../../telemetry/record-net.ts';
import { type PlannedSite, readPiece } from './planned-sites.ts';
import { allVisits, encodeCursor, parseVisitRequest } from './visit-request.ts';
import { readWhoComes, type WhoComes } from './who-comes.ts';

interface Sum {
  date: string;
  /** Undefined for visits to which nobody comes. */
  employeeId: string | undefined;
  /** Those that take place. */
  visits: number;
  minutes: number;
  /** Skipped and cancelled ones, too. */
  listed: number;
}

interface SumPage {
  data: Sum[];
  employees: { id: string; name: string }[];
  nextCursor: string | null;
}

const sitesPerPiece = 500;
/** Time for the employees. */
const reserveMs = 500;

/** With the filters and the cursor of GET /visits. A page that runs out of time ends early, and readers add the pages up. */
export async function visitSumRoutes(
  office: FastifyInstance,
  { database }: { database: Database },
): Promise<void> {
  const unchanged = new UnchangedReadings<SumPage>();
  office.get<{ Querystring: Record<string, unknown> }>(
    '/visit-sums',
    { config: { isHeavyRead: true } },
    async (request) => {
      const asked = parseVisitRequest(request.query);
      const { tenantId, deadline } = request;
      const rule = await database.queryInTenants([tenantId], businessQuery(tenantId), { deadline });
      const key = JSON.stringify([rule.rows, request.query]);
      return unchanged.read({ database, tenantId, deadline }, key, () => sumPage(database, request, asked));
    },
  );
}

async function sumPage(
  database: Database,
  request: FastifyRequest,
  asked: ReturnType<typeof parseVisitRequest>,
): Promise<SumPage> {
  const { tenantId, deadline, log } = request;
  const pace = paceOf(request, reserveMs);
  const reader = { tenantId, deadline, report: reporterOf(log, 'visits') };
  const days = { first: asked.from.day, last: asked.until };
  const whoComes = await readWhoComes(database, reader, asked, days);
  const sums = new Map<string, Sum>();
  let { siteId } = asked.from;
  let isEnd = false;
  while (!isEnd) {
    try {
      const place = { comparison: '>', siteId, count: sitesPerPiece } as const;
      const piece = await readPiece(database, reader, { ...whoComes.conditions, days }, place);
      for (const site of piece.sites) {
        // A site counts as a whole or not at all.
        for (const [key, sum] of await pace.run(sumVisits(site, days, whoComes)))
          sums.set(key, add(sums.get(key), sum));
        siteId = site.id;
      }
      isEnd = piece.isLast || piece.sites.length === 0;
    } catch (error) {
      if (!isOverloaded(error) || siteId === asked.from.siteId) throw error;
      break;
    }
  }
  const next = { day: days.first, siteId, taken: allVisits };
  return {
    ...(await nameEmployees(database, request, [...sums.values()])),
    nextCursor: isEnd ? null : encodeCursor(asked, next),
  };
}

function* sumVisits(
  site: PlannedSite,
  { first, last }: { first: number; last: number },
  whoComes: WhoComes,
): Steps<Map<string, Sum>> {
  const sums = new Map<string, Sum>();
  for (let day = first; day <= last; day += 1) {
    yield;
    for (const visit of yield* site.visits.on(day)) {
      const comes = whoComes.to(site, visit);
      if (!comes) continue;
      const { employeeId } = comes;
      const isOn = takesPlace(visit.status);
      const minutes = (visit.durationInMinutes ?? 0) + (site.preparationInMinutes ?? 0);
      const sum = {
        date: fromDayNumber(day),
        employeeId,
        visits: Number(isOn),
        minutes: isOn ? minutes : 0,
        listed: 1,
      };
      const key = `${day} ${employeeId}`;
      sums.set(key, add(sums.get(key), sum));
    }
  }
  return sums;
}

function add(one: Sum | undefined, other: Sum): Sum {
  if (!one) return other;
  return {
    ...one,
    visits: one.visits + other.visits,
    minutes: one.minutes + other.minutes,
    listed: one.listed + other.listed,
  };
}

/** An id that names no employee is nobody. */
async function nameEmployees(
  database: Database,
  { tenantId, deadline }: { tenantId: string; deadline: number },
  sums: readonly Sum[],
) {
  const ids = [...new Set(sums.flatMap(({ employeeId }) => employeeId ?? []))];
  const { rows: employees } = await database.queryInTenants<{ id: string; name: string }>(
    [tenantId],
    {
      text: `SELECT id, concat_ws(' ', first_name, last_name) AS name FROM employee WHERE tenant_id = $1 AND id = ANY ($2::uuid[])`,
      values: [tenantId, ids],
    },
    { deadline },
  );
  const existing = new Set(employees.map(({ id }) => id));
  const data = new Map<string, Sum>();
  for (const sum of sums) {
    const employeeId = existing.has(sum.employeeId ?? '') ? sum.employeeId : undefined;
    const key = `${sum.date} ${employeeId}`;
    data.set(key, add(data.get(key), { ...sum, employeeId }));
  }
  return { data: [...data.values()], employees };
}
