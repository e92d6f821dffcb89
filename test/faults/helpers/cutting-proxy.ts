// Stands between the service and PostgreSQL, and cuts connections at the worst moment: around a COMMIT.
import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import type pg from 'pg';
import { cleanUpLater } from './process.ts';

/** Before PostgreSQL gets the COMMIT, or after it has committed and before the service knows. */
type Moment = 'before' | 'after';

export async function startCuttingProxy({ host, port }: pg.ClientConfig) {
  const sockets = new Set<Socket>();
  let moment: Moment = 'before';
  let cutsLeft = 0;

  const server = createServer((client) => {
    const upstream = host!.startsWith('/')
      ? connect(path.join(host!, `.s.PGSQL.${port}`))
      : connect({ host: host!, port: port! });
    const cut = () => {
      client.destroy();
      upstream.destroy();
    };
    let isDoomed = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', cut).on('close', () => {
        sockets.delete(socket);
        cut();
      });
    }
    client.on('data', (bytes: Buffer) => {
      if (cutsLeft > 0 && !isDoomed && bytes.includes('COMMIT\0')) {
        cutsLeft--;
        if (moment === 'before') return cut();
        isDoomed = true;
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes: Buffer) => {
      // The name of a finished command ends with a zero as well.
      if (isDoomed && bytes.includes('COMMIT\0')) cut();
      else if (!isDoomed) client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUpLater(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as { port: number }).port,
    cut(count: number, when: Moment) {
      moment = when;
      cutsLeft = count;
    },
    hasCut: () => cutsLeft === 0,
  };
}
