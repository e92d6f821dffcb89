// Data that is kept for a time ends with it, and nothing else does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trimRecordedCalls } from '../../../server/features/call-log/recorded-calls.ts';
import { retentionSteps } from '../../../server/features/retention/retention.ts';
import { createPerson } from '../../helpers/office.ts';
import { startService } from '../../helpers/service.ts';

const service = await startService();
const { owner, database, tenant } = service;
const { tenantId } = tenant;
const config = { AUDIT_RETENTION_DAYS: 365, JOURNAL_CHANGES_RETENTION_DAYS: 1095 };

async function age(table: string, days: number, condition = 'true'): Promise<void> {
  await owner.query(
    `UPDATE ${table} SET at = now() - make_interval(days => $2) WHERE tenant_id = $1 AND ${condition}`,
    [tenantId, days],
  );
}

test('old entries of the journal lose values and names, and keep their place, id and type of actor', async () => {
  const person = await createPerson(service, { name: 'Vera A' });
  const [old, young] = [await service.createCustomer(), await service.createCustomer()];
  for (const id of [old, young]) await person.call('PATCH', `/customers/${id}`, { companyName: 'Neu GmbH' });
  await age('journal', 1096, `resource_id = '${old}'`);
  await age('journal', 1094, `resource_id = '${young}'`);
  for (const step of Object.values(retentionSteps(database, config))) await step();
  const { data } = (await service.get('/changes')).json();
  const changed = data.filter(({ action }: { action: string }) => action === 'CHANGED');
  assert.deepEqual(
    changed.map(({ actor, actorId, actorType, changes }: Record<string, unknown>) => [
      actor,
      actorId,
      actorType,
      changes !== undefined,
    ]),
    [
      ['person', person.id, 'PERSON', false],
      ['Vera A', person.id, 'PERSON', true],
    ],
  );
  assert.deepEqual(
    data.map(({ cursor }: { cursor: string }) => Number(cursor)),
    [1, 2, 3, 4],
    'the feed has no gap',
  );
  assert.equal(data[0].actor, `key …${tenant.key.slice(-4)}`, 'a key is no person');
});

test('more than a piece of both ends in one run', async () => {
  await owner.query(
    `INSERT INTO journal (tenant_id, position, at, resource, resource_id, action, version, actor, changes)
     SELECT $1, 1000 + number, now() - interval '4 years', 'site', gen_random_uuid(), 'CHANGED', 2, 'key …abcd', '{}'
     FROM generate_series(1, 2500) AS number`,
    [tenantId],
  );
  await owner.query(
    `INSERT INTO audit_entry (tenant_id, id, at, event, actor_type, actor)
     SELECT $1, gen_random_uuid(), now() - make_interval(days => number), 'SIGNED_IN', 'PERSON', 'x'
     FROM generate_series(1, 2500) AS number`,
    [tenantId],
  );
  for (const step of Object.values(retentionSteps(database, config))) await step();
  const journal = await owner.query(
    `SELECT count(*)::integer AS entries, count(changes)::integer AS changes FROM journal
     WHERE tenant_id = $1 AND position > 1000`,
    [tenantId],
  );
  assert.deepEqual(journal.rows, [{ entries: 2500, changes: 0 }]);
  const audit = await owner.query(
    `SELECT count(*)::integer AS entries, max(now() - at) < interval '366 days' AS is_young FROM audit_entry
     WHERE tenant_id = $1 AND actor = 'x'`,
    [tenantId],
  );
  assert.deepEqual(audit.rows, [{ entries: 364, is_young: true }]);
});

test('an ended key forgets who made it with the audit record, and a live one does not', async () => {
  const business = await service.createTenant('Blatt & Co.');
  const person = await createPerson(service, { tenantId: business.tenantId, name: 'Vera A' });
  for (let count = 0; count < 3; count++) await person.call('POST', '/key');
  const makers = async () =>
    (
      await owner.query<{ created_by: string }>(
        'SELECT created_by FROM api_key WHERE tenant_id = $1 AND created_by_id = $2 ORDER BY created_at',
        [business.tenantId, person.id],
      )
    ).rows.map(({ created_by }) => created_by);
  await owner.query(
    `UPDATE api_key SET ended_at = ended_at - interval '2 years' WHERE tenant_id = $1
       AND key_hash = (SELECT key_hash FROM api_key WHERE tenant_id = $1 AND created_by_id = $2 ORDER BY created_at LIMIT 1)`,
    [business.tenantId, person.id],
  );
  for (const step of Object.values(retentionSteps(database, config))) await step();
  assert.deepEqual(await makers(), ['person', 'Vera A', 'Vera A']);
});

test('a service that was taken over cannot empty the audit record: the last day stays', async () => {
  const attempt = database.pool.query('SELECT forget_audit_entries(now(), 1000000)');
  await assert.rejects(attempt, /the last day of the audit record is kept/);
});

test('recorded calls are kept for as many days as the setting says', async () => {
  const idAt = (days: number) =>
    `(lpad(to_hex((extract(epoch FROM now() - interval '${days} days') * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid`;
  await owner.query(
    `INSERT INTO recorded_request (tenant_id, id, method, route, path, status, duration_ms, address, user_agent)
     SELECT $1, id, 'GET', '/old', '/old', 200, 1, '', '' FROM (VALUES (${idAt(2)}), (${idAt(8)}), (${idAt(31)})) AS aged (id)`,
    [tenantId],
  );
  await owner.query('INSERT INTO request_hour VALUES ($1, now(), 3, 0, 0, 0) ON CONFLICT DO NOTHING', [
    tenantId,
  ]);
  const count = async () =>
    (await owner.query(`SELECT FROM recorded_request WHERE tenant_id = $1 AND route = '/old'`, [tenantId]))
      .rowCount;
  await trimRecordedCalls(database, 30);
  assert.equal(await count(), 2);
  await trimRecordedCalls(database, 7);
  assert.equal(await count(), 1);
});
