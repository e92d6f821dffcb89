import { buildApp } from '../app.ts';
import type { Config } from '../config.ts';
import { openConnection } from '../database/connection.ts';
import { openDatabase } from '../database/database.ts';
import { migrate } from '../database/migrations.ts';
import { openLog } from '../http/request-log.ts';
import { type Command, UsageError } from './command.ts';

/** How long what is under way may take at a stop before the process ends all the same. */
const stopTimeoutMs = 15_000;

export const serve: Command = {
  name: 'serve',
  summary: 'Run the service until it is stopped with Ctrl-C or SIGTERM.',
  options: {},
  async run({ config }) {
    const origin = originOf(config.HOST, config.PORT);
    const log = openLog(config.LOG_LEVEL);
    const connection = await openConnection(config, {
      purpose: 'serve',
      label: origin,
      onEvent: ({ level, message }) => log[level](message),
    });
    try {
      await migrate(connection.client);
      const database = openDatabase(connection.client, config.DATABASE_CONNECTIONS);
      const app = await buildApp(config, database, log);
      await app.listen({ host: config.HOST, port: config.PORT }).catch((error) => {
        throw listenError(error, config);
      });
      const address = app.server.address();
      const port = typeof address === 'object' && address ? address.port : config.PORT;
      process.stdout.write(startBlock(originOf(config.HOST, port), connection.description));
      await stopSignal();
      setTimeout(() => process.exit(1), stopTimeoutMs).unref();
      await app.close();
      await database.close();
    } finally {
      await connection.close();
    }
    return undefined;
  },
};

function originOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function listenError(error: NodeJS.ErrnoException, { HOST, PORT }: Config): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new UsageError(
        `Port ${PORT} on ${HOST} is taken by another program. Stop it, or choose another port: PORT=${PORT + 1} npm start`,
      );
    case 'EACCES':
      return new UsageError(
        `Port ${PORT} may not be used by this user. Choose one above 1023: PORT=3000 npm start`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new UsageError(
        `HOST ${HOST} is no address of this machine. Use 127.0.0.1, or 0.0.0.0 for all of them.`,
      );
    default:
      return error;
  }
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}

function startBlock(origin: string, database: string): string {
  return `
Stamm is running.

  Web app     ${origin}/
  API base    ${origin}/api/v1
  Reference   ${origin}/docs
  Database    ${database}

Next, in another terminal: make a business and its key,
  npm run --silent stamm -- tenant create --name "Grün & Gut GmbH"
  npm run --silent stamm -- key create --tenant TENANT_ID

then send a first customer:
  curl ${origin}/api/v1/customer -H 'ApiKey: KEY' -H 'Content-Type: application/json' \\
    -d '{"companyName":"Hotel Alsterblick GmbH","address":{"streetName":"Ballindamm","houseNumber":"17a","zipCode":"20095","city":"Hamburg"}}'

Stop with Ctrl-C.

`;
}
