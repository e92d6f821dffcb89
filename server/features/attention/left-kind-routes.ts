// All entries of one kind are left as they are, or taken back, in parts of bounded cost.
import type { FastifyInstance } from 'fastify';
import { nullable, oneOf, optional, readForm, uuid, words } from '../../access/form.ts';
import { sessionOf } from '../../access/office-access.ts';
import type { Database } from '../../database/database.ts';
import { type AttentionCheck, attentionChecksOf } from '../../engine/attention/attention-checks.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { isTimestamp } from '../../engine/read/list-query.ts';
import { ApiError } from '../../errors.ts';
import { hashedFinding, leftEntry } from './left-entries.ts';

const maxReasonLength = 150;
/** Rows of the table that one call looks at. */
const rowsPerCall = 5000;

export async function leftKindRoutes(
  office: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
): Promise<void> {
  // Duplicates and judged entries are decided one by one.
  const checks = resources.flatMap(attentionChecksOf).filter(({ judge, group }) => !judge && !group);
  const kindForm = {
    resource: oneOf(resources.map(({ name }) => name)),
    field: words(200),
    code: oneOf(checks.map(({ code }) => code)),
  };
  const findCheck = (kind: { resource: string; field: string; code: string }): AttentionCheck => {
    const found = checks.find(
      ({ resource, field, code }) => resource === kind.resource && field === kind.field && code === kind.code,
    );
    if (!found) throw new ApiError('not_found');
    return found;
  };

  /** The caller repeats it with `next` until that is null. */
  office.post('/attention/left/all', async (request) => {
    const { reason, after, ...kind } = readForm(request, {
      ...kindForm,
      reason: optional(words(maxReasonLength)),
      after: optional(nullable(uuid)),
    });
    const check = findCheck(kind);
    const { tenantId, deadline } = request;
    const { rows } = await database.queryInTenants<{ left: number; next: string | null; at: Date }>(
      [tenantId],
      {
        text: `WITH part AS MATERIALIZED (
            SELECT * FROM ${check.table} AS stored
            WHERE stored.tenant_id = $1 AND ($7::uuid IS NULL OR stored.id > $7) ORDER BY stored.id LIMIT ${rowsPerCall}
          ), noted AS (
            INSERT INTO left_attention (tenant_id, object_id, resource, field, code, reason, person_id, finding)
            SELECT subject.tenant_id, subject.id, $2, $3, $4, $5, $6::uuid, ${hashedFinding(check)} FROM part AS subject
            WHERE (${check.condition}) AND NOT EXISTS (SELECT ${leftEntry(check)})
            ON CONFLICT (tenant_id, resource, object_id, field, code) DO UPDATE SET finding = excluded.finding,
              reason = excluded.reason, person_id = excluded.person_id, left_at = excluded.left_at
            RETURNING 1
          )
          SELECT (SELECT count(*) FROM noted)::integer AS left, now() AS at,
            CASE WHEN (SELECT count(*) FROM part) = ${rowsPerCall}
              THEN (SELECT part.id FROM part ORDER BY part.id DESC LIMIT 1) END AS next`,
        values: [
          ...[tenantId, check.resource, check.field, check.code, reason ?? null],
          ...[sessionOf(request).person.id, after ?? null],
        ],
      },
      { deadline },
    );
    const { left, next, at } = rows[0]!;
    return { left, next, at };
  });

  /** Takes back what the person left since then. */
  office.post('/attention/reopened/all', async (request, reply) => {
    const { since, ...kind } = readForm(request, { ...kindForm, since: words(40) });
    const { resource, field, code } = findCheck(kind);
    if (!isTimestamp(since)) throw new ApiError('not_found');
    await database.queryInTenants([request.tenantId], {
      text: `DELETE FROM left_attention WHERE tenant_id = $1 AND resource = $2 AND field = $3 AND code = $4
          AND person_id = $5 AND left_at >= $6`,
      values: [request.tenantId, resource, field, code, sessionOf(request).person.id, since],
    });
    reply.code(204);
  });
}
