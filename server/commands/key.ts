import { createApiKey, deleteApiKey } from '../access/api-keys.ts';
import { UsageError } from '../errors.ts';
import { asOperator, type Command, tenantIdFrom } from './command.ts';

const options = { tenant: 'Id of the tenant, as "tenant list" shows it.' };

const keyCreate: Command = {
  name: 'key create',
  summary: "Create a tenant's API key and show it once. The previous key ends immediately.",
  options,
  async run({ config, options }) {
    const tenantId = tenantIdFrom(options);
    const key = await asOperator(config, (client) => createApiKey(client, tenantId));
    if (key === undefined)
      throw new UsageError(`There is no tenant ${tenantId}. "tenant list" shows all of them.`);
    return {
      text: `${key}\nStore it safely now: it is not kept here and cannot be shown again.`,
      json: { key },
    };
  },
};

const keyDelete: Command = {
  name: 'key delete',
  summary: "Delete a tenant's API key. It ends immediately.",
  options,
  async run({ config, options }) {
    const tenantId = tenantIdFrom(options);
    const hadKey = await asOperator(config, (client) => deleteApiKey(client, tenantId));
    if (!hadKey) throw new UsageError(`The tenant ${tenantId} has no key, or does not exist.`);
    return { text: `The key of ${tenantId} is deleted.`, json: { deleted: true } };
  },
};

export const commands: readonly Command[] = [keyCreate, keyDelete];
