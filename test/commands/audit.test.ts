// What the operator does at the command line is in the audit record of the business.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseUrl, runStamm, withClient } from '../faults/helpers/process.ts';
import { createTestDatabase } from '../helpers/service.ts';

test('tenants, keys and people made at the command line are recorded as made by the operator', async () => {
  const connection = await createTestDatabase();
  const env = { DATABASE_URL: databaseUrl(connection) };
  const run = async (...words: string[]) => {
    const { code, stdout, stderr } = await runStamm([...words, '--json'], env);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const { tenantId } = await run('tenant', 'create', '--name', 'Blatt & Co.');
  const { key } = await run('key', 'create', '--tenant', tenantId);
  await run('key', 'delete', '--tenant', tenantId);
  const person = ['--tenant', tenantId, '--email', 'vera@blatt.example', '--name', 'Vera A', '--generate'];
  const { id } = await run('user', 'create', ...person);
  await run('user', 'password', '--email', 'vera@blatt.example', '--generate');
  const { rows } = await withClient(connection, (owner) =>
    owner.query(
      'SELECT event, actor_type, subject_id, subject FROM audit_entry WHERE tenant_id = $1 ORDER BY at, id',
      [tenantId],
    ),
  );
  const keyName = `key …${key.slice(-4)}`;
  assert.deepEqual(
    rows.map(({ event, actor_type, subject_id, subject }) => [event, actor_type, subject_id, subject]),
    [
      ['BUSINESS_CREATED', 'COMMAND_LINE', null, 'Blatt & Co.'],
      ['KEY_CREATED', 'COMMAND_LINE', null, keyName],
      ['KEY_DELETED', 'COMMAND_LINE', null, keyName],
      ['PERSON_ADDED', 'COMMAND_LINE', id, 'Vera A <vera@blatt.example>'],
      ['PASSWORD_RESET', 'COMMAND_LINE', id, 'vera@blatt.example'],
    ],
  );
});
