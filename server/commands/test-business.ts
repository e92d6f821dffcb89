// The test business of a business at the command line: what Settings › API & interfaces offers, for the operator.
import { type AuditEntry, recordCommand } from '../access/audit-log.ts';
import type { Config } from '../config.ts';
import { type Database, openDatabase } from '../database/database.ts';
import { openServiceLogin } from '../database/service-login.ts';
import { isUuid } from '../engine/definition/formats.ts';
import { ApiError, UsageError } from '../errors.ts';
import {
  createTestBusiness,
  demandTestBusiness,
  pursue,
  readTestBusiness,
  replaceTestKey,
  type TestBusiness,
} from '../features/test-business/test-business.ts';
import { workUntilDone } from '../features/test-business/worker.ts';
import { text } from '../messages.ts';
import { program } from '../program.ts';
import { resources } from '../resources/index.ts';
import { asOperator, type Command, type Outcome } from './command.ts';

const options = { business: 'Id of the real business, as "tenant list" shows it.' };
const keyAdvice = 'Store it safely now: it is not kept here and cannot be shown again.';

const create: Command = {
  name: 'test-business create',
  summary: 'Create the test business of a business, fill it with masked data, and show its key once.',
  options,
  run: ({ config, options }) =>
    inBusiness(config, options, async (business) => {
      const { id, key } = await createTestBusiness(business.database, business.id, commandLine);
      await business.record({ event: 'TEST_BUSINESS_CREATED' });
      const done = await finish(business, id);
      return {
        text: `${key}\n${keyAdvice}\n${describe(done)}`,
        json: { testBusinessId: id, key, ...figures(done) },
      };
    }),
};

const fill: Command = {
  name: 'test-business fill',
  summary: 'Copy what is missing or differs into the test business, masked.',
  options,
  run: ({ config, options }) =>
    inBusiness(config, options, async (business) => {
      const { id } = await demandTestBusiness(business.database, business.id);
      await pursue(business.database, id, 'FILLED');
      await business.record({ event: 'TEST_BUSINESS_FILLED' });
      return outcomeOf(await finish(business, id));
    }),
};

const reset: Command = {
  name: 'test-business reset',
  summary: 'Delete everything in the test business and fill it again. Its key and webhooks stay.',
  options,
  flags: { empty: 'Leave it empty.' },
  run: ({ config, options, flags }) =>
    inBusiness(config, options, async (business) => {
      const { id } = await demandTestBusiness(business.database, business.id);
      const isFilled = !flags.has('empty');
      await pursue(business.database, id, isFilled ? 'FILLED' : 'EMPTY', { isReset: true });
      await business.record({ event: 'TEST_BUSINESS_RESET', details: { isFilled } });
      return outcomeOf(await finish(business, id));
    }),
};

const key: Command = {
  name: 'test-business key',
  summary: "Create the test business's API key and show it once. The previous key ends immediately.",
  options,
  run: ({ config, options }) =>
    inBusiness(config, options, async (business) => {
      const { id } = await demandTestBusiness(business.database, business.id);
      const { key } = await replaceTestKey(business.database, id, commandLine);
      await business.record({ event: 'KEY_CREATED', subject: { name: `key …${key.slice(-4)}` } });
      return { text: `${key}\n${keyAdvice}`, json: { key } };
    }),
};

const remove: Command = {
  name: 'test-business remove',
  summary: 'Remove the test business with everything in it. The real one stays as it is.',
  options,
  run: ({ config, options }) =>
    inBusiness(config, options, async (business) => {
      const { id } = await demandTestBusiness(business.database, business.id);
      await pursue(business.database, id, 'REMOVED');
      await business.record({ event: 'TEST_BUSINESS_REMOVED' });
      await finish(business, id);
      return { text: 'The test business is removed.', json: { removed: true } };
    }),
};

export const commands: readonly Command[] = [create, fill, reset, key, remove];

const commandLine = { name: 'command line' };

interface Business {
  id: string;
  database: Database;
  record(entry: Omit<AuditEntry, 'actor'>): Promise<void>;
}

async function inBusiness(
  config: Config,
  { business }: Record<string, string>,
  work: (business: Business) => Promise<Outcome>,
): Promise<Outcome> {
  if (!isUuid(business!))
    throw new UsageError(`"${business}" is not the id of a business. "tenant list" shows all of them.`);
  const id = business!.toLowerCase();
  return asOperator(config, async (owner, connection) => {
    const { rowCount } = await owner.query('SELECT FROM tenant WHERE tenant_id = $1', [id]);
    if (rowCount === 0) throw new UsageError(`There is no business ${id}. "tenant list" shows all of them.`);
    const { client } = await openServiceLogin(connection);
    const database = openDatabase(client, { maxConnections: 2 });
    const record: Business['record'] = (entry) =>
      database.inTenants([id], (inTenant) => recordCommand(inTenant, id, entry));
    try {
      return await work({ id, database, record }).catch(explain(id));
    } finally {
      await database.close();
    }
  });
}

/** Does the work here: no service needs to run. Beside one, both take their steps in turn. */
async function finish({ database }: Business, id: string): Promise<TestBusiness | undefined> {
  await workUntilDone(database, resources, id);
  return readTestBusiness(database, id);
}

function figures(done: TestBusiness | undefined) {
  return { copied: done?.copied ?? 0, skipped: done?.skipped ?? 0 };
}

function describe(done: TestBusiness | undefined): string {
  const { copied, skipped } = figures(done);
  if (done?.goal === 'EMPTY') return 'The test business is empty.';
  const left = skipped > 0 ? ` ${skipped} were skipped: something else in it has their number or owner.` : '';
  return `The test business holds ${copied} masked objects of the real one.${left}`;
}

function outcomeOf(done: TestBusiness | undefined): Outcome {
  return { text: describe(done), json: figures(done) };
}

function explain(id: string) {
  return (error: unknown): never => {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'not_found')
      throw new UsageError(
        `This business has no test business. Create one: ${program} test-business create --business ${id}`,
      );
    if (error.code === 'real_business_only')
      throw new UsageError(`${id} is a test business itself. Name the real one.`);
    throw new UsageError(text(error.code, 'en'));
  };
}
