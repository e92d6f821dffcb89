// The service with the data of an invented business, to look around in. It fills only a database that nobody uses yet.

import { randomUUIDv7 } from 'node:crypto';
import type pg from 'pg';
import { createApiKey } from '../auth/api-keys.ts';
import { hashPassword } from '../auth/passwords.ts';
import { addPerson } from '../auth/people.ts';
import { makePassword } from '../auth/secrets.ts';
import { createTenant } from '../auth/tenants.ts';
import type { Config } from '../config.ts';
import { asDatabaseOwner } from '../database/connection.ts';
import type { Database } from '../database/database.ts';
import type { Definition } from '../engine/definition/definition.ts';
import { buildCheck } from '../engine/definition/validation.ts';
import { buildWrites, type NewRow } from '../engine/sql/row-store.ts';
import { UsageError } from '../errors.ts';
import { parseJson } from '../http/json-body.ts';
import { listenUntilStopped, startBlock } from '../process/service.ts';
import { resources } from '../resources/index.ts';
import type { Command } from './command.ts';
import { buildBusiness, businessName } from './demo/business.ts';
import type { Body } from './demo/demo-data.ts';

export const demo: Command = {
  name: 'demo',
  summary: 'Run the service with the data of an invented business, in a database that is still empty.',
  options: {},
  async run({ config }) {
    await listenUntilStopped(config, async (listening) => {
      // After the port is ours: a demo that could not start leaves nothing behind that would keep it from starting.
      const { tenantId, key } = await fillEmptyDatabase(listening.connection.client, config);
      const password = await addDemoPerson(listening.database, tenantId);
      return startBlock(listening, introduction(listening.origin, tenantId, key, password));
    });
    return undefined;
  },
};

const demoEmail = 'demo@stamm.example';

/** A password of its own for each demo: it may run where others can reach it. */
async function addDemoPerson(database: Database, tenantId: string): Promise<string> {
  const password = makePassword();
  const passwordHash = await hashPassword(password);
  const person = { name: 'Demo', email: demoEmail, role: 'VERWALTUNG', passwordHash } as const;
  await database.inTenants([tenantId], (client) => addPerson(client, tenantId, person));
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

/** All or nothing: an interrupted demo can start again. */
async function fillEmptyDatabase(connection: pg.ClientConfig, config: Config) {
  return asDatabaseOwner(connection, async (client) => {
    await client.query('BEGIN');
    // Nobody makes a tenant between the look and the first row.
    await client.query('LOCK TABLE tenant IN SHARE ROW EXCLUSIVE MODE');
    const { rowCount: tenants } = await client.query('SELECT FROM tenant LIMIT 1');
    if (tenants !== 0) throw new UsageError(refusal(config));
    const tenantId = await createTenant(client, businessName);
    await writeBusiness(client, tenantId);
    await client.query('COMMIT');
    return { tenantId, key: (await createApiKey(client, tenantId))! };
  });
}

function refusal({ DATABASE_URL, DATA_DIR }: Config): string {
  const instead = DATABASE_URL
    ? 'Name an empty database in DATABASE_URL, or unset it and choose a new DATA_DIR'
    : 'Give the demo a data directory of its own';
  return `This database already holds a business, and the demo changes nothing in it. ${instead}: DATA_DIR=${DATA_DIR}-demo npm run demo`;
}

async function writeBusiness(client: pg.Client, tenantId: string): Promise<void> {
  const ids = new Map<string, string>();
  function idOf(externalId: string): string {
    const id = ids.get(externalId) ?? randomUUIDv7();
    ids.set(externalId, id);
    return id;
  }
  const business = buildBusiness(idOf);
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
