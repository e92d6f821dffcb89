import { recordCommand } from '../access/audit-log.ts';
import { createTenant } from '../access/tenants.ts';
import { UsageError } from '../errors.ts';
import { program } from '../program.ts';
import { asOperator, type Command } from './command.ts';

const tenantCreate: Command = {
  name: 'tenant create',
  summary: 'Create a tenant: a business with its own data and its own key.',
  options: { name: 'Name of the business.' },
  async run({ config, options }) {
    const name = options.name!.trim();
    if (name === '') throw new UsageError('The name of a tenant must not be empty.');
    const tenantId = await asOperator(config, async (client) => {
      await client.query('BEGIN');
      const made = await createTenant(client, name);
      await recordCommand(client, made, { event: 'BUSINESS_CREATED', subject: { name } });
      await client.query('COMMIT');
      return made;
    });
    const text = `Created the tenant ${name}: ${tenantId}\nNext, create its key: ${program} key create --tenant ${tenantId}`;
    return { text, json: { tenantId } };
  },
};

const tenantList: Command = {
  name: 'tenant list',
  summary: 'List all tenants, and when their keys were last used.',
  options: {},
  async run({ config }) {
    const { rows } = await asOperator(config, (client) =>
      client.query<{
        tenantId: string;
        name: string;
        createdAt: Date;
        keyEnding: string | null;
        keyLastUsedAt: Date | null;
        testOf: string | null;
      }>(
        `SELECT tenant.tenant_id AS "tenantId", tenant.name, tenant.created_at AS "createdAt",
           key.last_four AS "keyEnding", key.last_used_at AS "keyLastUsedAt",
           test.real_tenant_id AS "testOf"
         FROM tenant LEFT JOIN test_business AS test ON test.tenant_id = tenant.tenant_id
         LEFT JOIN api_key AS key ON key.tenant_id = tenant.tenant_id AND key.ended_at IS NULL
         ORDER BY tenant.created_at, tenant.tenant_id`,
      ),
    );
    const lines = rows.map(({ tenantId, name, keyEnding, keyLastUsedAt, testOf }) => {
      const key = keyEnding
        ? `key …${keyEnding}, last used ${keyLastUsedAt?.toISOString() ?? 'never'}`
        : 'no key';
      return `${tenantId}  ${testOf ? `test business of ${testOf}` : name}  (${key})`;
    });
    return { text: lines.join('\n') || 'There is no tenant yet.', json: { tenants: rows } };
  },
};

export const commands: readonly Command[] = [tenantCreate, tenantList];
