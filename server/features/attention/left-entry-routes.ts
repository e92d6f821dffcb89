// The office leaves entries as they are, takes them back, and sees how many there are of each kind.
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { Pace } from '../../../core/pace.ts';
import { oneOf, optional, readForm, uuid, words } from '../../auth/form.ts';
import { sessionOf } from '../../auth/office-access.ts';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import {
  type AttentionCheck,
  attentionChecksOf,
  findAttentionOf,
  isJudged,
  readBusiness,
  selectJudged,
} from '../../engine/sql/attention-checks.ts';
import { ApiError, validationError } from '../../errors.ts';
import { refuseUnknownParameters } from '../../http/conventions.ts';
import { countFrom, encodeCursor, openOnly, readCursor } from './attention-pieces.ts';
import { hashedFinding, leftEntry } from './left-entries.ts';

const maxReasonLength = 150;
const maxListed = 500;

export async function leftEntryRoutes(
  office: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
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

  const openChecks = checks.map(openOnly);
  // A business with very many sites is counted in several requests, whose counts add up.
  office.get('/attention/counts', { config: { isHeavyRead: true } }, async (request) => {
    refuseUnknownParameters(request, ['cursor']);
    const { tenantId, deadline, query } = request;
    const from = readCursor((query as { cursor?: unknown }).cursor, 'counts');
    if (!from) throw validationError([{ path: ['cursor'], code: 'invalid_cursor' }]);
    const { counts, next } = await countFrom(database, tenantId, openChecks, from, deadline);
    const data = checks.map(({ resource, code }, index) => ({ resource, code, count: counts[index]! }));
    return {
      data: data.filter(({ count }) => count > 0),
      nextCursor: next ? encodeCursor('counts', next) : null,
    };
  });

  office.get('/attention/left', { config: { isHeavyRead: true } }, async (request) => {
    refuseUnknownParameters(request, []);
    const { tenantId, deadline } = request;
    const read = (client: pg.ClientBase) => readLeft(client, tenantId, checks);
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
      const found = await findAttentionOf(client, [check], { tenant_id: tenantId, id }, 'en');
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

/** Those whose cause still holds, the newest first. */
async function readLeft(client: pg.ClientBase, tenantId: string, checks: readonly AttentionCheck[]) {
  const entries: { leftAt: Date; person_id: string }[] = [];
  const business = await readBusiness(client, tenantId);
  const pace = new Pace();
  for (const check of checks) {
    const { resource, field, code } = check;
    const { rows } = await client.query(
      `SELECT subject.id, left_entry.reason, left_entry.left_at AS "leftAt", left_entry.person_id,
         ${selectJudged(check)} AS judged
       FROM (SELECT * FROM left_attention WHERE tenant_id = $1 AND resource = $2 AND field = $3 AND code = $4
         ORDER BY left_at DESC LIMIT ${maxListed}) AS left_entry
       JOIN ${check.table} AS subject ON subject.tenant_id = $1 AND subject.id = left_entry.object_id
       WHERE (${check.condition}) AND EXISTS (SELECT ${leftEntry(check)})`,
      [tenantId, resource, field, code],
    );
    for (const { judged, ...row } of rows) {
      if (await pace.run(isJudged(check, judged, business))) entries.push({ resource, field, code, ...row });
    }
  }
  const listed = entries
    .sort((one, other) => other.leftAt.getTime() - one.leftAt.getTime())
    .slice(0, maxListed);
  // By a statement of its own: on a cluster people are on the coordinator, and entries on the workers.
  const { rows: people } = await client.query<{ id: string; name: string }>(
    'SELECT id, name FROM person WHERE tenant_id = $1 AND id = ANY ($2)',
    [tenantId, listed.map((entry) => entry.person_id)],
  );
  const names = new Map(people.map(({ id, name }) => [id, name]));
  return listed.map(({ person_id, ...entry }) => ({ ...entry, leftBy: names.get(person_id) ?? null }));
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
