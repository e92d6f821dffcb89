// The service with the data of an invented business, to look around in. It fills only an empty database, and starts again on its own.

import type pg from 'pg';
import { createApiKey } from '../access/api-keys.ts';
import { addPerson, setPassword } from '../access/people.ts';
import { makePassword } from '../access/secrets.ts';
import { createTenant } from '../access/tenants.ts';
import type { Config } from '../config.ts';
import { asDatabaseOwner } from '../database/connection.ts';
import type { Database } from '../database/database.ts';
import { UsageError } from '../errors.ts';
import { hashPassword } from '../features/sign-in/passwords.ts';
import { listenUntilStopped, startBlock } from '../process/service.ts';
import { demoCommand } from '../program.ts';
import type { Command } from './command.ts';
import { businessName, demoOrigin, importBusiness } from './demo/business.ts';
import { makeCalls } from './demo/calls.ts';

const demo: Command = {
  name: 'demo',
  summary: 'Run the service with the data of an invented business, in an empty database or its own.',
  options: {},
  async run({ config }) {
    await listenUntilStopped(config, async (listening) => {
      // After the port is ours: a demo that could not start leaves nothing behind that would keep it from starting.
      const { tenantId, key, isEmpty } = await openBusiness(listening.connection.client, config);
      const password = await givePassword(listening.database, tenantId);
      if (isEmpty) {
        await importBusiness(listening.origin, key);
        await makeCalls(listening.database, { origin: listening.origin, tenantId, key });
      }
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

/** A key is shown once, so each start makes one. */
async function openBusiness(connection: pg.ClientConfig, config: Config) {
  return asDatabaseOwner(connection, async (client) => {
    await client.query('BEGIN');
    // Nobody makes a tenant between the look and the first row.
    await client.query('LOCK TABLE tenant IN SHARE ROW EXCLUSIVE MODE');
    const found = await findBusinesses(client);
    const [own] = found.filter(({ firstOrigin }) => firstOrigin === demoOrigin || firstOrigin === null);
    if (found.length > (own ? 1 : 0)) throw new UsageError(inUse(config));
    const tenantId = own?.tenantId ?? (await createTenant(client, businessName));
    await client.query('COMMIT');
    return {
      tenantId,
      key: (await createApiKey(client, tenantId))!,
      isEmpty: own?.firstOrigin !== demoOrigin,
    };
  });
}

interface FoundBusiness {
  tenantId: string;
  /** Creation of its first object. Null if it has none and bears the demo's name: a demo was interrupted. */
  firstOrigin: string | null;
}

/** At most two. */
async function findBusinesses(client: pg.Client): Promise<FoundBusiness[]> {
  const { rows } = await client.query<FoundBusiness>(
    `SELECT tenant_id AS "tenantId", CASE WHEN entry.position IS NOT NULL THEN coalesce(entry.origin, '')
       WHEN tenant.name <> $1 THEN '' END AS "firstOrigin"
     FROM tenant LEFT JOIN journal AS entry USING (tenant_id)
     WHERE coalesce(entry.position, 1) = 1
       AND NOT EXISTS (SELECT FROM test_business AS test WHERE test.tenant_id = tenant.tenant_id) LIMIT 2`,
    [businessName],
  );
  return rows;
}

function inUse({ DATABASE_URL, DATA_DIR }: Config): string {
  const instead = DATABASE_URL
    ? 'Name an empty database in DATABASE_URL, or unset it and choose a new DATA_DIR'
    : 'Give the demo a data directory of its own';
  return `This database already holds a business, and the demo changes nothing in it. ${instead}: DATA_DIR=${DATA_DIR}-demo ${demoCommand}`;
}
