// The service with the data of an invented business, to look around in. It fills only an empty database, and starts again on its own.

import { randomUUIDv7 } from 'node:crypto';
import type pg from 'pg';
import { createApiKey } from '../auth/api-keys.ts';
import { hashPassword } from '../auth/passwords.ts';
import { addPerson, setPassword } from '../auth/people.ts';
import { makePassword } from '../auth/secrets.ts';
import { createTenant } from '../auth/tenants.ts';
import type { Config } from '../config.ts';
import { asDatabaseOwner } from '../database/connection.ts';
import type { Database } from '../database/database.ts';
import type { Definition } from '../engine/definition/definition.ts';
import { buildCheck } from '../engine/definition/validation.ts';
import { buildWrites } from '../engine/sql/row-store.ts';
import type { NewRow } from '../engine/sql/rows.ts';
import { UsageError } from '../errors.ts';
import { parseJson } from '../http/json-body.ts';
import { listenUntilStopped, startBlock } from '../process/service.ts';
import { demoCommand } from '../program.ts';
import { resources } from '../resources/index.ts';
import type { Command } from './command.ts';
import { buildBusiness, businessName } from './demo/business.ts';
import { makeCalls } from './demo/calls.ts';
import type { Body } from './demo/demo-data.ts';

const demo: Command = {
  name: 'demo',
  summary: 'Run the service with the data of an invented business, in an empty database or its own.',
  options: {},
  async run({ config }) {
    await listenUntilStopped(config, async (listening) => {
      // After the port is ours: a demo that could not start leaves nothing behind that would keep it from starting.
      const { tenantId, key, isNew } = await openBusiness(listening.connection.client, config);
      const password = await givePassword(listening.database, tenantId);
      if (isNew) await makeCalls(listening.database, { origin: listening.origin, tenantId, key });
      return startBlock(listening, introduction(listening.origin, tenantId, key, password));
    });
    return undefined;
  },
};

export const commands: readonly Command[] = [demo];

const demoEmail = 'demo@stamm.example';

/** A new password for each start: others may reach the demo, and nobody remembers the last one. */
async function givePassword(database: Database, tenantId: string): Promise<string> {
  const password = makePassword();
  const passwordHash = await hashPassword(password);
  const person = { name: 'Demo', email: demoEmail, role: 'VERWALTUNG', passwordHash } as const;
  await database.inTenants([tenantId], async (client) => {
    const { rows } = await client.query<{ id: string }>(
      'SELECT id FROM person WHERE tenant_id = $1 AND email = $2',
      [tenantId, demoEmail],
    );
    if (rows[0]) await setPassword(client, tenantId, rows[0].id, passwordHash);
    else await addPerson(client, tenantId, person);
  });
  return password;
}

function introduction(origin: string, tenantId: string, key: string, password: string): string {
  return `It holds an invented business with its customers, sites and plants:

  Tenant      ${businessName}, ${tenantId}
  Sign in     ${demoEmail}
  Password    ${password}
  API key     ${key}

Look at its sites in Ahrensburg, in another terminal:
  curl '${origin}/api/v1/sites?city=Ahrensburg' -H 'ApiKey: ${key}'`;
}

/** Fills an empty database, all or nothing: an interrupted demo can start again. A key is shown once, so each start makes one. */
async function openBusiness(connection: pg.ClientConfig, config: Config) {
  return asDatabaseOwner(connection, async (client) => {
    await client.query('BEGIN');
    // Nobody makes a tenant between the look and the first row.
    await client.query('LOCK TABLE tenant IN SHARE ROW EXCLUSIVE MODE');
    const found = await findBusinesses(client);
    const isOwn = found.length === 1 && found[0]!.is_demo;
    if (found.length > 0 && !isOwn) throw new UsageError(inUse(config));
    const tenantId = found[0]?.tenant_id ?? (await createTenant(client, businessName));
    if (!isOwn) await writeBusiness(client, tenantId);
    await client.query('COMMIT');
    return { tenantId, key: (await createApiKey(client, tenantId))!, isNew: !isOwn };
  });
}

/** At most two; the journal of a demo begins with its own entries. */
async function findBusinesses(client: pg.Client): Promise<{ tenant_id: string; is_demo: boolean }[]> {
  const { rows } = await client.query<{ tenant_id: string; is_demo: boolean }>(
    `SELECT tenant_id, EXISTS (SELECT FROM journal AS entry
       WHERE entry.tenant_id = tenant.tenant_id AND entry.position = 1 AND entry.actor = 'demo') AS is_demo
     FROM tenant LIMIT 2`,
  );
  return rows;
}

function inUse({ DATABASE_URL, DATA_DIR }: Config): string {
  const instead = DATABASE_URL
    ? 'Name an empty database in DATABASE_URL, or unset it and choose a new DATA_DIR'
    : 'Give the demo a data directory of its own';
  return `This database already holds a business, and the demo changes nothing in it. ${instead}: DATA_DIR=${DATA_DIR}-demo ${demoCommand}`;
}

async function writeBusiness(client: pg.Client, tenantId: string): Promise<void> {
  const ids = new Map<string, string>();
  function idOf(externalId: string): string {
    const id = ids.get(externalId) ?? randomUUIDv7();
    ids.set(externalId, id);
    return id;
  }
  const business = buildBusiness(idOf, Temporal.Now.plainDateISO('UTC'));
  for (const definition of resources) {
    const toRow = buildToRow(definition, tenantId, idOf);
    const rows = (business[definition.name] ?? []).map(toRow);
    const outcomes = await buildWrites(definition, resources).insertRows(client, rows);
    const refused = outcomes.find((outcome) => outcome !== 'written');
    if (refused) throw refused;
  }
}

/** The same check that a body of a request goes through. */
function buildToRow(definition: Definition, tenantId: string, idOf: (externalId: string) => string) {
  const check = buildCheck(definition);
  return function toRow(body: Body): NewRow & { actor: string } {
    const { fieldErrors, ignoredFields, row } = check(parseJson(Buffer.from(JSON.stringify(body))));
    if (fieldErrors.length + ignoredFields.length > 0) {
      throw new Error(
        `${definition.name} ${body.externalId}: ${JSON.stringify([fieldErrors, ignoredFields])}`,
      );
    }
    return { ...row, tenant_id: tenantId, id: idOf(body.externalId), actor: 'demo' };
  };
}
