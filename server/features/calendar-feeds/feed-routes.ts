// Calendar feeds: the office makes and removes their secret addresses, calendar programs read them without a session.
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../access/audit-log.ts';
import { oneOf, readForm } from '../../access/form.ts';
import { networkOf } from '../../access/network.ts';
import { sessionOf } from '../../access/office-access.ts';
import { addressOf } from '../../access/one-time-links.ts';
import { buildFailureCounter, secondsUntil } from '../../access/rate-limit.ts';
import { hashToken, isToken, makeToken } from '../../access/secrets.ts';
import type { Database } from '../../database/database.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { ApiError } from '../../errors.ts';
import { matchesEtag } from '../../http/conventions.ts';
import { awaitTurn, HeavyRead, type HeavyReads } from '../../http/heavy-reads.ts';
import { paceOf } from '../../http/request-pace.ts';
import { reporterOf } from '../../telemetry/record-net.ts';
import { collectVisits, feedDays, writeCalendar } from './feed-calendar.ts';
import {
  type Feed,
  type FeedSubject,
  feedResources,
  findFeed,
  readFeedSites,
  readSubject,
} from './feed-data.ts';

const heavy = { config: { isHeavyRead: true } } as const;
const withProof = { config: { needsRecentProof: true } } as const;
const bodiless = { config: { takesNoBody: true } } as const;

/** Calendar programs ask every few minutes at most. */
const maxReadsPerMinute = 30;
const maxMissesPerMinute = 60;
const cacheSeconds = 300;

interface SubjectRoute {
  Params: { resource: string; id: string };
}

interface Options {
  database: Database;
  publicUrl: string | undefined;
  heavyReads: HeavyReads;
}

export async function feedRoutes(app: FastifyInstance, options: Options): Promise<void> {
  addOfficeRoutes(app, options);
  addCalendarRoute(app, options);
}

async function collectFor(read: Parameters<typeof readFeedSites>[0], feed: Feed) {
  const days = feedDays();
  return collectVisits(await readFeedSites(read, feed, days), days);
}

function addOfficeRoutes(app: FastifyInstance, { database, publicUrl }: Options): void {
  app.get<SubjectRoute>('/calendar-feeds/:resource/:id', heavy, async (request) => {
    const { resource, id } = subjectOf(request);
    const { tenantId, deadline, log } = request;
    const { rows } = await database.queryInTenants<{ createdAt: Date; createdBy: string; hash: Buffer }>(
      [tenantId],
      {
        text: `SELECT created_at AS "createdAt", created_by AS "createdBy", token_hash AS hash FROM calendar_feed
          WHERE tenant_id = $1 AND resource = $2 AND subject_id = $3`,
        values: [tenantId, resource, id],
      },
      { deadline },
    );
    if (!rows[0]) return { feed: null };
    const { hash, ...made } = rows[0];
    const read = { database, tenantId, deadline, report: reporterOf(log, 'visits') };
    const feed = await findFeed(read, hash);
    const found = feed && (await paceOf(request).run(await collectFor(read, feed)));
    return {
      feed: {
        ...made,
        completeUntil: found?.isShortened ? found.until : null,
        includedSites: found?.includedSites ?? null,
      },
    };
  });

  /** A second one replaces the first: the old address then answers 404. */
  app.put<SubjectRoute>('/calendar-feeds/:resource/:id', withProof, async (request, reply) => {
    const { resource, id } = subjectOf(request);
    const { language } = readForm(request, { language: oneOf(['de', 'en']) });
    const { tenantId } = request;
    const { person } = sessionOf(request);
    const token = makeToken();
    await database.inTenants(
      [tenantId],
      async (client) => {
        const subject = await readSubject(client, tenantId, { resource, id });
        if (!subject) throw new ApiError('not_found');
        await client.query(
          `INSERT INTO calendar_feed (tenant_id, resource, subject_id, token_hash, language, created_at, created_by)
           VALUES ($1, $2, $3, $4, $5, $6, $7)
           ON CONFLICT (tenant_id, resource, subject_id) DO UPDATE SET token_hash = excluded.token_hash,
             language = excluded.language, created_at = excluded.created_at, created_by = excluded.created_by`,
          [tenantId, resource, id, hashToken(token), language, new Date(), person.name],
        );
        await recordAudit(client, tenantId, request, { event: 'CALENDAR_CREATED', subject: { id } });
      },
      { deadline: request.deadline },
    );
    reply.code(201);
    return { address: `${addressOf(request, publicUrl)}/app/calendar/${tenantId}/${token}.ics` };
  });

  app.delete<SubjectRoute>('/calendar-feeds/:resource/:id', bodiless, async (request, reply) => {
    const { resource, id } = subjectOf(request);
    const { tenantId, deadline } = request;
    await database.inTenants(
      [tenantId],
      async (client) => {
        const { rowCount } = await client.query(
          'DELETE FROM calendar_feed WHERE tenant_id = $1 AND resource = $2 AND subject_id = $3',
          [tenantId, resource, id],
        );
        if (rowCount === 0) throw new ApiError('not_found');
        await recordAudit(client, tenantId, request, { event: 'CALENDAR_REMOVED', subject: { id } });
      },
      { deadline },
    );
    reply.code(204);
  });
}

function addCalendarRoute(app: FastifyInstance, { database, publicUrl, heavyReads }: Options): void {
  const countReads = buildFailureCounter();
  const countMisses = buildFailureCounter();

  app.get<{ Params: { tenantId: string; file: string } }>(
    '/calendar/:tenantId/:file',
    async (request, reply) => {
      const calendar = await readCalendar(request, reply);
      // Only misses wait: wrong addresses must not close the right ones behind the same proxy.
      if (calendar === undefined) {
        demandRate(reply, countMisses(networkOf(request.ip), 1), maxMissesPerMinute);
        throw new ApiError('not_found');
      }
      const etag = `"${hashEntries(calendar)}"`;
      reply.headers({ 'Cache-Control': `private, max-age=${cacheSeconds}`, ETag: `W/${etag}` });
      const known = request.headers['if-none-match']?.replaceAll('W/', '');
      if (known !== undefined && matchesEtag(known, etag)) return reply.code(304).send();
      return reply.type('text/calendar; charset=utf-8').send(calendar);
    },
  );

  /** Undefined for an address that names no feed, or one whose employee or site has ended. */
  async function readCalendar(
    request: FastifyRequest<{ Params: { tenantId: string; file: string } }>,
    reply: FastifyReply,
  ): Promise<string | undefined> {
    const { deadline, params, log } = request;
    const token = params.file.replace(/\.ics$/, '');
    if (!isUuid(params.tenantId) || !isToken(token)) return undefined;
    const tenantId = params.tenantId.toLowerCase();
    demandRate(reply, countReads(token, 1), maxReadsPerMinute);
    const read = { database, tenantId, deadline, report: reporterOf(log, 'visits') };
    const feed = await findFeed(read, hashToken(token));
    if (!feed) return undefined;
    await awaitTurn(request, new HeavyRead(heavyReads, tenantId, 'calendar', reply));
    const pace = paceOf(request);
    const found = await pace.run(await collectFor(read, feed));
    return pace.run(writeCalendar(feed, found, addressOf(request, publicUrl), log));
  }
}

/** Sequences grow with each write of the business, and change nothing that anybody sees. */
function hashEntries(calendar: string): string {
  const entries = calendar.replaceAll(/^SEQUENCE:\d+\r\n/gm, '');
  return createHash('sha256').update(entries).digest('base64url').slice(0, 22);
}

function demandRate(
  reply: FastifyReply,
  { requests, windowEndsInMs }: { requests: number; windowEndsInMs: number },
  limit: number,
): void {
  if (requests <= limit) return;
  reply.header('Retry-After', secondsUntil(windowEndsInMs));
  throw new ApiError('rate_limited');
}

function subjectOf({ params }: FastifyRequest<SubjectRoute>): FeedSubject {
  const resource = feedResources.find((name) => name === params.resource);
  if (!resource || !isUuid(params.id)) throw new ApiError('not_found');
  return { resource, id: params.id.toLowerCase() };
}
