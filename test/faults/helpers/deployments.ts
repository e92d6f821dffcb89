// What the faults of the matrix strike: the service on one machine, or a node on a database elsewhere.
import assert from 'node:assert/strict';
import type pg from 'pg';
import { findFreePort } from '../../helpers/free-port.ts';
import { createTestDatabase } from '../../helpers/service.ts';
import type { Deployment } from './matrix.ts';
import {
  connectionTo,
  createTenant,
  type Environment,
  findServers,
  makePreparedDataDir,
  type Prepared,
  type StammProcess,
  startStamm,
  withClient,
} from './process.ts';

export const generous = { RATE_LIMIT_PER_MINUTE: '1000000000' };

/** The deadline of requests as where nobody sets anything. */
export const promised = { REQUEST_DEADLINE_MS: '' };

export interface OneMachine extends Deployment {
  dataDir: string;
  service: StammProcess;
  /** Starts the service again, at the same address. */
  restart(): Promise<void>;
}

/** The service with the PostgreSQL that it brings. */
export async function deployOneMachine(
  settings: Environment = {},
  prepare: () => Promise<Prepared> = makePreparedDataDir,
): Promise<OneMachine> {
  const { dataDir, ...tenant } = await prepare();
  const env = { DATA_DIR: dataDir, PORT: String(await findFreePort()), ...generous, ...settings };
  const service = await startStamm(env);
  const deployed: OneMachine = {
    ...tenant,
    dataDir,
    service,
    origin: service.origin,
    connection: connectionTo(dataDir),
    async restart() {
      deployed.service = await startStamm(env);
    },
    async close() {
      assert.equal((await deployed.service.stop()).code, 0);
      assert.deepEqual(findServers(dataDir), []);
    },
  };
  return deployed;
}

/** A node on a database elsewhere. */
export async function deployNode(makeEnvironment: (connection: pg.ClientConfig) => Promise<Environment>) {
  const connection = await createTestDatabase();
  const tenant = await withClient(connection, createTenant);
  const service = await startStamm({ ...generous, ...(await makeEnvironment(connection)) });
  const close = async () => assert.equal((await service.stop()).code, 0);
  return { ...tenant, origin: service.origin, connection, close };
}
