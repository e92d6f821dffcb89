import { once } from 'node:events';
import { createServer } from 'node:net';

/** Another program may take the port before it is used, which is unlikely. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
