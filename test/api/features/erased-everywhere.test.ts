// Every column of the database that can hold text is filled with a marker, or says why no text about a customer's
// people lands there. After an erasure the marker is only where a reason is given.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createPerson } from '../../helpers/office.ts';
import { startService, validAddress, validCustomer, validSite } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

const service = await startService();
const { owner } = service;

/** Columns that no text about a person reaches, by their reason. */
const withoutPeople: Record<string, RegExp> = {
  'a choice, a name of ours or a number':
    /\.(resource|resources|actions|role|language|salutation|status|type|kind|state|code|codes|judged_by|method|route|action|event|actor_type|ownership|culture_system|material|billing_interval|unit_code|currency|holiday_rule|time_zone|time_from|time_until|purpose|reason|goal|stage|paused_because|ended_by|oldest_node|checksum|address_zip_code|address_zip_code_start|address_house_number|attending_intervals|opening_hours|vat_id|gtin)$/,
  'a day': /^(appointment|absence)\.(sort_name|search_text)$/,
  'a person of the office, or who did it':
    /^(person|session|invitation|passkey)\.|\.(actor|undo_actor|created_by)$/,
  'a secret, or a hash of the text':
    /\.(secret|previous_secret|password|key|fingerprint|finding|address_hash|key_hash|last_four)$/,
  'the service itself': /^(schema_migration|service_login|background_work|backup_folder)\./,
  'the business itself': /^tenant\./,
  'a field of ours, checked against the definitions': /^left_attention\.field$/,
  'external ids of merged records, for the undo of the merge': /^import_run\.former_names$/,
  'the machine of a caller': /\.address$/,
  'where the business sends to, and why that failed': /^webhook\.url$|^webhook_delivery\.error$/,
  'the program of the caller, from a short list of characters': /\.(origin|exclude_origin)$/,
  'the audit record: who of the office did what, for a year': /^audit_entry\./,
};

/** Columns in which the marker stays, by their reason. */
const kept: Record<string, RegExp> = {
  'other systems find records by external ids and unique numbers, which the office changes itself':
    /external_id$|\.(customer_number|contract_number|article_number|label_code|employee_number)$/,
  'a record in the bin keeps its external id too': /^deleted_object\.content$/,
  'follows those numbers': /^(search_word\.word|\w+\.(search_text|sort_name))$/,
};

async function textColumns(): Promise<{ table: string; column: string }[]> {
  const { rows } = await owner.query<{ table: string; column: string }>(
    `SELECT relname AS table, attname AS column FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
       AND atttypid::regtype::text = ANY ('{text,text[],json,jsonb,name,character varying}')
     ORDER BY 1, 2`,
  );
  return rows;
}

async function columnsWith(marker: string): Promise<string[]> {
  const found: string[] = [];
  for (const { table, column } of await textColumns()) {
    const { rowCount } = await owner.query(
      `SELECT FROM ${table} WHERE strpos(lower(${column}::text), lower($1)) > 0 LIMIT 1`,
      [marker],
    );
    if (rowCount) found.push(`${table}.${column}`);
  }
  return found;
}

/** Columns that only programs of others fill, or a long way through the office. */
async function fillTheRest(place: { tenantId: string; siteId: string; id: string; marker: string }) {
  const { tenantId, siteId, id, marker } = place;
  const free: Record<string, string[]> = {
    absence: ['comment', 'external_id', 'substitute_employee_external_id'],
    appointment: ['comment', 'employee_external_id', 'external_id'],
    container: ['color', 'comment', 'external_id', 'label_code', 'product_external_id'],
    contract: ['contract_number', 'external_id'],
    customer: ['customer_number', 'email'],
    employee: ['email', 'employee_number', 'external_id', 'phone'],
    plant: [
      'botanical_name',
      'building',
      'comment',
      'common_name',
      'external_id',
      'floor',
      'label_code',
      'position',
      'room',
      'container_external_id',
      'product_external_id',
    ],
    product: ['article_number', 'description', 'external_id'],
    site: [
      'address_city',
      'address_street_name',
      'assigned_employee_external_id',
      'contact_person_external_id',
      'contract_external_id',
      'service_record_recipient_external_id',
    ],
  };
  for (const [table, columns] of Object.entries(free))
    for (const column of columns) {
      const value = column === 'email' ? `${marker}@hotel.example` : marker;
      const sql = `UPDATE ${table} SET ${column} = $2 WHERE id = (SELECT id FROM ${table} WHERE tenant_id = $1 LIMIT 1)`;
      await owner.query(sql, [tenantId, value]);
    }
  const webhookId = randomUUID();
  const rows: [string, unknown[]][] = [
    [
      `INSERT INTO position_proposal (tenant_id, site_id, address_hash, state, lat, lng, found_as) VALUES ($1, $2, '', 'OPEN', 1, 1, $3)`,
      [tenantId, siteId, marker],
    ],
    [
      `INSERT INTO left_attention (tenant_id, resource, object_id, field, code, finding, reason, person_id) VALUES ($1, 'site', $2, 'name', 'x', '', $3, $2)`,
      [tenantId, siteId, marker],
    ],
    [`INSERT INTO former_external_id VALUES ($1, 'contact-person', $3, $2)`, [tenantId, id, marker]],
    [
      `INSERT INTO webhook (tenant_id, id, url, secret, last_position) VALUES ($1, $2, 'https://erp.example', 'x', 0)`,
      [tenantId, webhookId],
    ],
    [
      `INSERT INTO webhook_delivery (tenant_id, webhook_id, id, type, duration_ms, answer) VALUES ($1, $2, $2, 'x', 1, $3)`,
      [tenantId, webhookId, marker],
    ],
    [
      `INSERT INTO ended_key_use SELECT tenant_id, key_hash, '', $2, 1, now() FROM api_key WHERE tenant_id = $1`,
      [tenantId, marker],
    ],
    [
      `INSERT INTO waiting_link (tenant_id, resource, external_id, actor) VALUES ($1, 'site', $2, '')`,
      [tenantId, marker],
    ],
  ];
  for (const [sql, values] of rows) await owner.query(sql, values);
}

test('an erasure leaves a marker only where a reason is given', async () => {
  const { tenantId, key } = await service.createTenant('Blatt & Co.');
  const marker = `Mark${randomUUID().slice(0, 8)}er`;
  const headers = { apikey: key, 'user-agent': `ERP (${marker})`, 'stamm-origin': 'erp' };
  // The checklist remembers the first call.
  await service.get(`/${marker}`, { headers });
  const person = await createPerson(service, { tenantId });
  const post = async (path: string, body: object) => {
    const response = await service.post(path, body, { headers });
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id as string;
  };
  const office = async (method: 'POST' | 'PUT', path: string, body: object) => {
    const response = await person.call(method, path, body);
    assert.ok(response.statusCode < 300, response.body);
    return response;
  };
  const address = { ...validAddress, streetName: `${marker}weg`, city: marker };
  const customerId = await post('/customer', {
    ...validCustomer,
    companyName: `Hotel ${marker}`,
    address,
    comment: marker,
    phone: `040 ${marker}`,
    externalId: `c-${marker}`,
  });
  const id = await post('/customer/contact-person', {
    customerId,
    lastName: marker,
    firstName: marker,
    role: marker,
    email: `${marker}@hotel.example`,
    phone: `040 ${marker}`,
    mobile: `0170 ${marker}`,
    comment: marker,
    externalId: `${marker}-1`,
  });
  const siteId = await post('/customer/site', {
    ...validSite(customerId),
    name: `Foyer ${marker}`,
    comment: marker,
    externalId: `s-${marker}`,
  });
  await service.patch(`/sites/${siteId}`, { comment: `Ask ${marker}` }, { headers });
  await service.post('/customer', { companyName: marker, [marker]: 1 }, { headers });
  await service.get(`/customers?${marker}=1`, { headers });
  await service.post('/customer', { ...validCustomer, [marker]: 1 }, { headers });
  await post('/customer/site/container', { siteId, name: marker, cultureSystem: 'SOIL' });
  await post('/customer/contract', { customerId, siteIds: [siteId], type: 'CARE', startDate: '2026-01-01' });
  const employeeId = await post('/employee', { firstName: marker, lastName: marker });
  await post('/employee/absence', { employeeId, from: '2026-01-01', until: '2026-01-02' });
  await post('/customer/site/appointment', { siteId, date: '2026-01-01' });
  await post('/product', { name: marker, kind: 'PLANT', unitCode: 'C62', netPrice: 1, currency: 'EUR' });
  await post('/customer/site/plant', { siteId, botanicalName: marker });
  const plantId = await post('/customer/site/plant', {
    siteId,
    botanicalName: marker,
    comment: marker,
    externalId: `p-${marker}`,
  });
  await service.delete(`/plants/${plantId}`, { headers });
  await office('POST', '/views', {
    resource: 'site',
    name: `Frau ${marker}`,
    search: `q=${marker}&sort=name`,
    columns: ['name', marker],
    isShared: true,
  });
  await office('PUT', '/remembered-choices', { key: 'titles', choice: marker });
  await office('PUT', '/remembered-names', { resource: 'contact-person', name: marker, id });
  await office('POST', '/imports', { fileName: `${marker}.csv`, resource: 'customer' });
  await fillTheRest({ tenantId, siteId, id, marker });
  // Calls are recorded a moment after they were answered.
  await until('the calls are recorded', async () => {
    const filled = await columnsWith(marker);
    return ['user_agent', 'body', 'errors', 'ignored_fields'].every((column) =>
      filled.includes(`recorded_request.${column}`),
    );
  });
  assert.equal((await person.call('GET', '/checklist')).statusCode, 200);
  const filled = await columnsWith(marker);
  const unknown = (await textColumns())
    .map(({ table, column }) => `${table}.${column}`)
    .filter((name) => !filled.includes(name))
    .filter((name) => !Object.values(withoutPeople).some((columns) => columns.test(name)));
  assert.deepEqual(unknown, [], 'these are filled, or say why not');
  const erasure = await service.delete(`/personal-data/${id}?text=${marker}`, { headers: { apikey: key } });
  assert.equal(erasure.statusCode, 204, erasure.body);
  const left = (await columnsWith(marker)).filter(
    (name) => !Object.values(kept).some((columns) => columns.test(name)),
  );
  assert.deepEqual(left, []);
  const inBin = await owner.query(
    `SELECT FROM deleted_object WHERE strpos((content::jsonb - 'external_id')::text, $1) > 0`,
    [marker],
  );
  assert.equal(inBin.rowCount, 0);
  assert.deepEqual(
    (await person.call('GET', '/views'))
      .json()
      .data.map(({ name, search }: Record<string, string>) => [name, search]),
    [['Frau […]', 'sort=name']],
  );
});

test('an erasure that names no text takes the name, number and address of the person out of views', async () => {
  const { tenantId, key } = await service.createTenant('Blatt & Co.');
  const asKey = { headers: { apikey: key } };
  const customerId = await service.createCustomer({}, asKey);
  const lastName = `Mark${randomUUID().slice(0, 8)}er`;
  const contact = { customerId, lastName, firstName: 'Anna', email: `x${lastName}@hotel.example` };
  const { id } = (await service.post('/customer/contact-person', contact, asKey)).json();
  const person = await createPerson(service, { tenantId });
  const view = {
    resource: 'site',
    search: `q=${lastName.toLowerCase()}`,
    columns: ['name'],
    isShared: false,
  };
  for (const name of [`Objekte ${lastName}`, 'Touren Anna'])
    await person.call('POST', '/views', { ...view, name });
  assert.equal((await service.delete(`/personal-data/${id}`, asKey)).statusCode, 204);
  assert.deepEqual(await columnsWith(lastName), []);
  const names = (await person.call('GET', '/views')).json().data.map(({ name }: { name: string }) => name);
  assert.deepEqual(names, ['Objekte […]', 'Touren Anna']);
});
