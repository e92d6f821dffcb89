// A relay between the service and PostgreSQL that loses the connection at a commit, as a failover does.
import { connect, createServer, type Socket } from 'node:net';
import type pg from 'pg';

/** Where the connection breaks: before PostgreSQL gets the commit, or after it has committed and before it says so. */
export type Cut = 'before the commit' | 'after the commit';

export interface DatabaseProxy {
  connection: pg.ClientConfig;
  /** Breaks the connection of the next transaction that sends this text. */
  cutNext(cut: Cut, marker: string): void;
  /** How many connections it has broken. */
  cuts(): number;
  close(): Promise<void>;
}

export async function openDatabaseProxy(target: pg.ClientConfig): Promise<DatabaseProxy> {
  let armed: { cut: Cut; marker: string } | undefined;
  let cuts = 0;
  const sockets = new Set<Socket>();

  function relay(client: Socket): void {
    const { host = '', port } = target;
    const server = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port!, host);
    let transaction = '';
    let isLost = false;
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      transaction = text.includes('BEGIN') ? text : transaction + text;
      if (armed && text.includes('COMMIT\0') && transaction.includes(armed.marker)) {
        const { cut } = armed;
        armed = undefined;
        cuts++;
        if (cut === 'before the commit') return end();
        isLost = true;
      }
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (!isLost) client.write(bytes);
      else if (bytes.includes('COMMIT\0')) end();
    });
  }

  const proxy = createServer(relay);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as { port: number };
  return {
    connection: { ...target, host: '127.0.0.1', port },
    cutNext(cut, marker) {
      armed = { cut, marker };
    },
    cuts: () => cuts,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
