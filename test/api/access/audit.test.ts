// The audit record: what gets into it, who reads it, and that nobody changes it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { deleteApiKey } from '../../../server/access/api-keys.ts';
import { auditEvents, recordAudit } from '../../../server/access/audit-log.ts';
import { createPerson, type OfficePerson } from '../../helpers/office.ts';
import { startService, type TestService } from '../../helpers/service.ts';

interface Entry {
  id: string;
  at: string;
  event: string;
  title: string;
  actorType: string;
  actorId: string | null;
  actor: string;
  actorEmail: string | null;
  subjectId: string | null;
  subject: string | null;
  details: Record<string, unknown> | null;
  requestId: string | null;
}

describe('the audit record', () => {
  let service: TestService;
  let vera: OfficePerson;
  before(async () => {
    service = await startService();
    vera = await createPerson(service, { name: 'Vera A' });
  });

  async function read(query = '', person = vera): Promise<{ data: Entry[]; nextCursor: string | null }> {
    const response = await person.call('GET', `/audit${query}`);
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  }

  /** The newest entry, with who did it and to what. */
  async function newest(): Promise<Entry> {
    const { data } = await read('?limit=1');
    assert.ok(data[0]);
    return data[0];
  }

  function assertBy(person: OfficePerson, entry: Entry): void {
    assert.deepEqual([entry.actorType, entry.actorId, entry.actor], ['PERSON', person.id, person.name]);
    assert.equal(entry.actorEmail, person.email);
  }

  test('has each change of people, with the roles before and after', async () => {
    const email = `${randomUUID()}@gruen-und-gut.example`;
    const { id } = (await vera.call('POST', '/invitations', { email, role: 'PFLEGE' })).json();
    const invited = await newest();
    assertBy(vera, invited);
    assert.deepEqual(
      [invited.event, invited.subjectId, invited.subject, invited.details],
      ['PERSON_INVITED', id, email, { role: 'PFLEGE' }],
    );
    await vera.call('DELETE', `/invitations/${id}`);
    const withdrawn = await newest();
    assert.deepEqual([withdrawn.event, withdrawn.subject], ['INVITATION_WITHDRAWN', email]);

    const colleague = await createPerson(service, { role: 'PFLEGE', name: 'Kurt B' });
    await vera.call('PATCH', `/people/${colleague.id}`, { role: 'VERWALTUNG' });
    const changed = await newest();
    assert.deepEqual(
      [changed.event, changed.subjectId, changed.details],
      ['PERSON_CHANGED', colleague.id, { role: { from: 'PFLEGE', to: 'VERWALTUNG' } }],
    );
    await vera.call('PATCH', `/people/${colleague.id}`, { role: 'VERWALTUNG' });
    assert.equal((await newest()).id, changed.id, 'nothing has changed, and nothing is recorded');
    await vera.call('DELETE', `/people/${colleague.id}`);
    const removed = await newest();
    assert.deepEqual(
      [removed.event, removed.subjectId, removed.subject],
      ['PERSON_REMOVED', colleague.id, `Kurt B <${colleague.email}>`],
    );
  });

  test('has keys that are made, replaced and deleted, in the office and at the command line', async () => {
    const tenant = await service.createTenant('Blatt & Co.');
    const person = await createPerson(service, { tenantId: tenant.tenantId, name: 'command line' });
    const made = (await person.call('POST', '/key')).json();
    await person.call('DELETE', '/key');
    await person.call('POST', '/key');
    await deleteApiKey(service.owner, tenant.tenantId);
    const { data } = await read('?event=KEY_CREATED,KEY_DELETED', person);
    assert.deepEqual(
      data.map(({ event, actorType, actorId }) => [event, actorType, actorId]),
      [
        ['KEY_DELETED', 'COMMAND_LINE', null],
        ['KEY_CREATED', 'PERSON', person.id],
        ['KEY_DELETED', 'PERSON', person.id],
        ['KEY_CREATED', 'PERSON', person.id],
        ['KEY_CREATED', 'COMMAND_LINE', null],
      ],
    );
    assert.equal(data[3]!.subject, `key …${made.lastFour}`);
    assert.deepEqual(data[3]!.details, { replaced: `key …${tenant.key.slice(-4)}` });
    assert.ok(!JSON.stringify(data).includes(made.key));
  });

  test('has each export once, by people and by key, with names of filters and not their values', async () => {
    await service.createCustomer();
    const clerk = await createPerson(service);
    const exported = await clerk.call('GET', '/customers.csv?q=Alster&locale=de');
    assert.equal(exported.statusCode, 200);
    const byPerson = await newest();
    assertBy(clerk, byPerson);
    assert.deepEqual(
      [byPerson.event, byPerson.details],
      ['DATA_EXPORTED', { collection: 'customers', format: 'csv', filters: ['q'] }],
    );
    assert.equal((await service.get('/sites.ndjson')).statusCode, 200);
    const byKey = await newest();
    assert.deepEqual(
      [byKey.event, byKey.actorType, byKey.actorId, byKey.actor],
      ['DATA_EXPORTED', 'KEY', null, `key …${service.tenant.key.slice(-4)}`],
    );
    assert.equal((await service.get('/sites.ndjson?nonsense=1')).statusCode, 400);
    assert.equal((await newest()).id, byKey.id, 'a refused export is none');
  });

  test('has the name of the business before and after', async () => {
    const tenant = await service.createTenant('Alt GmbH');
    const person = await createPerson(service, { tenantId: tenant.tenantId });
    await person.call('PATCH', '/business', { name: 'Neu GmbH' });
    await person.call('PATCH', '/business', { name: 'Neu GmbH' });
    const { data } = await read('?event=SETTINGS_CHANGED', person);
    assert.deepEqual(
      data.map(({ details }) => details),
      [{ businessName: { from: 'Alt GmbH', to: 'Neu GmbH' } }],
    );
  });

  test('a change that fails leaves no entry', async () => {
    const before = await newest();
    assert.equal((await vera.call('DELETE', `/people/${randomUUID()}`)).statusCode, 404);
    assert.equal((await vera.call('DELETE', `/invitations/${randomUUID()}`)).statusCode, 404);
    assert.equal((await newest()).id, before.id);
  });

  test('its events are log lines too, with ids and without names', async () => {
    const colleague = await createPerson(service, { role: 'PFLEGE', name: 'Lotte Logbuch' });
    const start = service.logLines.length;
    await vera.call('DELETE', `/people/${colleague.id}`);
    const lines = service.logLines.slice(start).map((line) => JSON.parse(line));
    const line = lines.find(({ event }) => event === 'PERSON_REMOVED');
    assert.deepEqual([line.personId, line.subjectId, line.msg], [vera.id, colleague.id, 'audit']);
    assert.equal(line.tenantId, service.tenant.tenantId);
    assert.ok(!JSON.stringify(line).includes('Logbuch'));
  });

  test('somebody who is not signed in is a stranger, under any account that they name', async () => {
    const request = { ip: '203.0.113.7', headers: {}, id: randomUUID(), server: service.app };
    await service.database.inTenants([vera.tenantId], (client) =>
      recordAudit(client, vera.tenantId, request as never, {
        event: 'SIGN_IN_FAILED',
        actor: { id: vera.id, name: `Vera\0 ${'x'.repeat(500)}` },
      }),
    );
    const entry = await newest();
    assert.deepEqual([entry.actorType, entry.actorId], ['STRANGER', vera.id]);
    assert.equal(entry.actor.length, 200);
  });

  test('is read by Verwaltung only, and by nobody of another business', async () => {
    const nurse = await createPerson(service, { role: 'PFLEGE' });
    for (const path of ['/audit', '/audit.csv', '/audit/events']) {
      assert.equal((await nurse.call('GET', path)).statusCode, 403, path);
    }
    const other = await service.createTenant('Andere GmbH');
    const stranger = await createPerson(service, { tenantId: other.tenantId });
    const own = await newest();
    const { data } = await read('', stranger);
    assert.ok(data.length > 0 && !data.some(({ id }) => id === own.id));
    assert.deepEqual((await read(`?actorId=${vera.id}`, stranger)).data, []);
  });

  test('cannot be changed or deleted by the role that requests run as', async () => {
    for (const statement of [
      `UPDATE audit_entry SET actor = 'Somebody else' WHERE tenant_id = $1`,
      'DELETE FROM audit_entry WHERE tenant_id = $1',
    ]) {
      const attempt = service.database.inTenants([vera.tenantId], (client) =>
        client.query(statement, [vera.tenantId]),
      );
      await assert.rejects(attempt, { code: '42501' }, statement);
    }
    const truncation = service.database.pool.query('TRUNCATE audit_entry');
    await assert.rejects(truncation, { code: '42501' });
    assert.ok((await read()).data.length > 0);
  });

  test('is read page by page without gap or repetition, also where entries have the same time', async () => {
    const tenant = await service.createTenant('Viele GmbH');
    const person = await createPerson(service, { tenantId: tenant.tenantId });
    await service.owner.query(
      `INSERT INTO audit_entry (tenant_id, id, at, event, actor_type, actor)
       SELECT $1, gen_random_uuid(), timestamptz '2026-03-01' + (number / 3) * interval '1 second', 'SIGNED_IN', 'PERSON', 'x'
       FROM generate_series(1, 20) AS number`,
      [tenant.tenantId],
    );
    const seen: Entry[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await read(
        `?limit=4&event=SIGNED_IN&until=2026-04-01T00:00:00Z&cursor=${cursor}`.replace(/&cursor=$/, ''),
        person,
      );
      assert.ok(page.data.length <= 4);
      seen.push(...page.data);
      cursor = page.nextCursor;
    }
    assert.equal(new Set(seen.map(({ id }) => id)).size, 20);
    const times = seen.map(({ at }) => at);
    assert.deepEqual(times, [...times].sort().reverse());
  });

  test('is filtered by event, person and period', async () => {
    const tenant = await service.createTenant('Filter GmbH');
    const person = await createPerson(service, { tenantId: tenant.tenantId });
    await person.call('GET', '/customers.csv');
    await person.call('PATCH', '/business', { name: 'Gefiltert GmbH' });
    const events = async (query: string) => (await read(query, person)).data.map(({ event }) => event);
    assert.deepEqual(await events('?event=DATA_EXPORTED'), ['DATA_EXPORTED']);
    assert.deepEqual(await events('?event=DATA_EXPORTED,SETTINGS_CHANGED'), [
      'SETTINGS_CHANGED',
      'DATA_EXPORTED',
    ]);
    assert.ok((await events(`?actorId=${person.id}`)).includes('DATA_EXPORTED'));
    assert.ok(!(await events(`?actorId=${person.id}`)).includes('KEY_CREATED'));
    const { at } = (await read('?event=SETTINGS_CHANGED', person)).data[0]!;
    assert.ok((await events(`?from=${at}`)).includes('SETTINGS_CHANGED'));
    assert.ok(!(await events(`?until=${at}`)).includes('SETTINGS_CHANGED'));
    assert.deepEqual(await events('?until=2020-01-01T00:00:00%2B01:00'), []);
  });

  test('refuses parameters that make no sense, each with its name', async () => {
    for (const [query, field] of [
      ['?event=SIGNED_UP', 'event'],
      ['?event=', 'event'],
      ['?event=SIGNED_IN&event=SIGNED_OUT', 'event'],
      ['?actorId=Vera', 'actorId'],
      ['?from=yesterday', 'from'],
      ['?until=2026-02-30T00:00:00Z', 'until'],
      ['?limit=501', 'limit'],
      ['?cursor=bm9uZQ', 'cursor'],
      ['?cursor=%00', 'cursor'],
      ['?who=Vera', 'who'],
    ] as const) {
      const response = await vera.call('GET', `/audit${query}`);
      assert.equal(response.statusCode, 400, query);
      assert.equal(response.json().errors[0].field, field, query);
    }
  });

  test('calls each event by its name in both languages', async () => {
    for (const [language, title] of [
      ['de', 'Angemeldet'],
      ['en', 'Signed in'],
    ] as const) {
      const headers = { 'accept-language': language };
      const { data } = (await vera.call('GET', '/audit/events', undefined, { headers })).json();
      assert.deepEqual(
        data.map(({ event }: { event: string }) => event),
        [...auditEvents],
      );
      assert.equal(data[0].title, title);
    }
  });

  test('as CSV has what the filters leave, guarded against formulas, and records itself', async () => {
    const tenant = await service.createTenant('Tabelle GmbH');
    const person = await createPerson(service, { tenantId: tenant.tenantId, name: '=1+1' });
    for (let count = 0; count < 3; count++) await person.call('GET', '/customers.csv');
    await service.owner.query(
      `INSERT INTO audit_entry (tenant_id, id, at, event, actor_type, actor, user_agent)
       SELECT $1, gen_random_uuid(), timestamptz '2026-03-01', 'SIGN_IN_FAILED', 'STRANGER', 'x', '@SUM(A1);"'
       FROM generate_series(1, 1200)`,
      [tenant.tenantId],
    );
    const failed = await person.call('GET', '/audit.csv?event=SIGN_IN_FAILED&locale=de');
    assert.match(
      String(failed.headers['content-disposition']),
      /^attachment; filename="audit-[\d-]{10}\.csv"$/,
    );
    const lines = failed.body.trimEnd().split('\r\n');
    assert.equal(lines.length, 1201, 'over several pages');
    assert.match(lines[0]!, /^\ufeffZeit;Ereignis;/);
    assert.ok(lines[1]!.includes(`"'@SUM(A1);"""`), lines[1]!);
    assert.match(lines[1]!, /;Anmeldung fehlgeschlagen;Nicht angemeldet;/);
    const exports = (await person.call('GET', '/audit.csv?event=DATA_EXPORTED&locale=en')).body;
    assert.equal(exports.trimEnd().split('\r\n').length, 5, 'three exports, and that of the record');
    assert.ok(exports.includes(`,'=1+1,`));
    const { data } = await read('?event=DATA_EXPORTED&limit=1', person);
    assert.deepEqual(data[0]!.details, { collection: 'audit', format: 'csv', filters: ['event'] });
  });
});
