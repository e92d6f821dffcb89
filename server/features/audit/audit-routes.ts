// The audit record for Verwaltung: a list with filters, and the same as a file.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { byteOrderMark, guardText, toCsvLine } from '../../../core/table/csv/csv.ts';
import { auditEvents, recordAudit } from '../../access/audit-log.ts';
import type { Database } from '../../database/database.ts';
import { separators } from '../../engine/http/csv.ts';
import { languageOf, refuseUnknownParameters } from '../../http/conventions.ts';
import { sendStream, streamConfig } from '../../http/streamed-answer.ts';
import type { Language } from '../../messages.ts';
import {
  type AuditFilters,
  type AuditRow,
  buildAuditQuery,
  encodeCursor,
  filterNames,
  type Place,
  readAuditExport,
  readAuditList,
  titleOf,
} from './audit-list.ts';
import { actorTypeTitles, columnTitles } from './titles.ts';

const heavy = { config: { isHeavyRead: true } } as const;
const exportedRowsPerPage = 500;

export async function auditRoutes(app: FastifyInstance, { database }: { database: Database }): Promise<void> {
  async function readPage(tenantId: string, filters: AuditFilters, after: Place | undefined, limit: number) {
    const statement = buildAuditQuery(filters, after, limit);
    const { rows } = await database.queryInTenants<AuditRow>([tenantId], statement);
    const page = rows.slice(0, limit);
    return { page, last: rows.length > limit ? page.at(-1)! : undefined };
  }

  app.get('/audit', heavy, async (request) => {
    const { filters, after, limit } = readAuditList(request);
    const { page, last } = await readPage(request.tenantId, filters, after, limit);
    const language = languageOf(request);
    return {
      data: page.map((row) => ({ ...row, title: titleOf(row.event, language) })),
      nextCursor: last ? encodeCursor(last) : null,
    };
  });

  app.get('/audit/events', async (request) => {
    refuseUnknownParameters(request, []);
    const language = languageOf(request);
    return { data: auditEvents.map((event) => ({ event, title: titleOf(event, language) })) };
  });

  app.get('/audit.csv', { config: { ...streamConfig }, exposeHeadRoute: false }, async (request, reply) => {
    const { filters, language = languageOf(request) } = readAuditExport(request);
    const { tenantId } = request;
    const first = await readPage(tenantId, filters, undefined, exportedRowsPerPage);
    await recordExport(request);
    const day = new Date().toISOString().slice(0, 10);
    reply.header('Content-Disposition', `attachment; filename="audit-${day}.csv"`);
    reply.type('text/csv; charset=utf-8; header=present');
    return sendStream(request, reply, writeFile());

    async function* writeFile() {
      yield byteOrderMark + toCsvLine(columnTitles[language], separators[language]) + toLines(first.page);
      for (let { last } = first; last; ) {
        const next = await readPage(tenantId, filters, [last.at, last.id], exportedRowsPerPage);
        last = next.last;
        yield toLines(next.page);
      }
    }

    function toLines(rows: readonly AuditRow[]): string {
      return rows.map((row) => toLine(row, language)).join('');
    }
  });

  async function recordExport(request: FastifyRequest): Promise<void> {
    const { tenantId, deadline } = request;
    const filters = Object.keys(request.query as object).filter((name) => filterNames.includes(name));
    const details = { collection: 'audit', format: 'csv', filters };
    await database.inTenants(
      [tenantId],
      (client) => recordAudit(client, tenantId, request, { event: 'DATA_EXPORTED', details }),
      { deadline },
    );
  }
}

/** In the order of the titles. Strangers choose some of these texts, so all of them are guarded. */
function toLine(row: AuditRow, language: Language): string {
  const cells = [
    row.at,
    titleOf(row.event, language),
    actorTypeTitles[row.actorType]?.[language] ?? row.actorType,
    row.actor,
    row.actorEmail,
    row.actorId,
    row.subject,
    row.subjectId,
    row.details && JSON.stringify(row.details),
    row.address,
    row.userAgent,
    row.requestId,
  ];
  return toCsvLine(
    cells.map((cell) => cell && guardText(cell)),
    separators[language],
  );
}
