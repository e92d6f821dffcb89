// The office leaves entries as they are, takes them back, and sees how many there are.
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { oneOf, optional, readForm, uuid, words } from '../../access/form.ts';
import { sessionOf } from '../../access/office-access.ts';
import type { Database } from '../../database/database.ts';
import { type AttentionCheck, attentionChecksOf } from '../../engine/attention/attention-checks.ts';
import { findAttentionOf } from '../../engine/attention/attention-findings.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { ApiError } from '../../errors.ts';
import { languageOf, refuseUnknownParameters } from '../../http/conventions.ts';
import { InterruptedPages } from '../../http/interrupted-pages.ts';
import { type AttentionCount, type Counting, countEntries } from './attention-counts.ts';
import { passesOf } from './attention-passes.ts';
import { readerOf, toEntry } from './attention-routes.ts';
import { type Finding, firstPlace, readPart, UnchangedEntries } from './attention-scan.ts';
import type { KeptFindings } from './kept-findings.ts';
import { hashedFinding, readLeft } from './left-entries.ts';
import { countsOf, pageOf } from './listed-findings.ts';

const maxReasonLength = 150;
/** The office shows more as "99+". */
const maxCounted = 100;
const shownEntries = 6;
/** A badge on each page must cost little. */
const overviewRows = 10_000;

export async function leftEntryRoutes(
  office: FastifyInstance,
  {
    database,
    resources,
    findings: kept,
  }: { database: Database; resources: readonly Definition[]; findings: KeptFindings },
): Promise<void> {
  const checks = resources.flatMap(attentionChecksOf);
  const entryForm = {
    resource: oneOf(resources.map(({ name }) => name)),
    id: uuid,
    field: words(200),
    code: oneOf(checks.map(({ code }) => code)),
  };

  function findCheck(named: { resource: string; field: string; code: string }): AttentionCheck {
    const check = checks.find(
      ({ resource, field, code }) =>
        resource === named.resource && field === named.field && code === named.code,
    );
    if (!check) throw new ApiError('not_found');
    return check;
  }

  const passes = passesOf(checks);
  const overviews = new UnchangedEntries<{ findings: Finding[]; count: number; isComplete: boolean }>();

  // On each page of the office: the first entries, and how many there are, by one statement that stops early.
  office.get('/attention/overview', async (request) => {
    refuseUnknownParameters(request, []);
    const reader = readerOf(database, request);
    const { findings, ...counted } = await overviews.read(reader, '', async () => {
      const found = await kept.read(reader);
      const { findings, next } = found
        ? pageOf(found, passes, { limit: maxCounted })
        : await readPart(reader, passes, firstPlace, maxCounted, overviewRows);
      return {
        findings: findings.slice(0, shownEntries),
        count: findings.length,
        isComplete: next === undefined,
      };
    });
    return { data: findings.map((finding) => toEntry(finding, languageOf(request))), ...counted };
  });

  const interrupted = new InterruptedPages<Counting>();
  const counts = new UnchangedEntries<AttentionCount[]>();
  office.get('/attention/counts', { config: { isHeavyRead: true } }, async (request) => {
    refuseUnknownParameters(request, []);
    const reader = readerOf(database, request);
    const data = await counts.read(reader, '', async () => {
      const found = await kept.read(reader);
      return found ? countsOf(found, passes) : countEntries(reader, passes, '', interrupted);
    });
    return { data };
  });

  office.get('/attention/left', { config: { isHeavyRead: true } }, async (request) => {
    refuseUnknownParameters(request, []);
    const { tenantId, deadline } = request;
    const read = (client: pg.ClientBase) => readLeft(client, tenantId, passes, request.log);
    return { data: await database.inTenants([tenantId], read, { deadline }) };
  });

  office.post('/attention/left', async (request, reply) => {
    const { reason, id, ...named } = readForm(request, {
      ...entryForm,
      reason: optional(words(maxReasonLength)),
    });
    const check = findCheck(named);
    const { tenantId, deadline } = request;
    const { person } = sessionOf(request);
    const values = [tenantId, id, check.resource, check.field, check.code, reason ?? null, person.id];
    const leave = async (client: pg.ClientBase) => {
      await forgetGoneObjects(client, tenantId, check);
      const found = await findAttentionOf(client, [check], { tenant_id: tenantId, id }, 'en', request.log);
      if (found.length === 0) throw new ApiError('not_found');
      const { rowCount } = await client.query(
        `INSERT INTO left_attention (tenant_id, object_id, resource, field, code, reason, person_id, finding)
         SELECT subject.tenant_id, subject.id, $3, $4, $5, $6, $7::uuid, ${hashedFinding(check)}
         FROM ${check.table} AS subject
         WHERE subject.tenant_id = $1 AND subject.id = $2 AND (${check.condition})
         ON CONFLICT (tenant_id, resource, object_id, field, code) DO UPDATE SET finding = excluded.finding,
           reason = excluded.reason, person_id = excluded.person_id, left_at = excluded.left_at`,
        values,
      );
      if (rowCount === 0) throw new ApiError('not_found');
    };
    await database.inTenants([tenantId], leave, { deadline });
    reply.code(204);
  });

  office.post('/attention/reopened', async (request, reply) => {
    const { id, resource, field, code } = readForm(request, entryForm);
    await database.queryInTenants([request.tenantId], {
      text: `DELETE FROM left_attention
        WHERE tenant_id = $1 AND object_id = $2 AND resource = $3 AND field = $4 AND code = $5`,
      values: [request.tenantId, id, resource, field, code],
    });
    reply.code(204);
  });
}

async function forgetGoneObjects(
  client: pg.ClientBase,
  tenantId: string,
  { resource, table }: AttentionCheck,
) {
  await client.query(
    `DELETE FROM left_attention WHERE tenant_id = $1 AND resource = $2 AND NOT EXISTS (
       SELECT FROM ${table} AS subject WHERE subject.tenant_id = $1 AND subject.id = left_attention.object_id)`,
    [tenantId, resource],
  );
}

/** In the transaction that erases a person, whom any reason may name. */
export async function eraseReasons(client: pg.ClientBase, tenantId: string): Promise<void> {
  await client.query('UPDATE left_attention SET reason = NULL WHERE tenant_id = $1 AND reason IS NOT NULL', [
    tenantId,
  ]);
}
