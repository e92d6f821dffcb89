import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that the kernel gives to connections and to servers that ask for none: one of these could take the port
 * before it is used. Above 10080, which browsers refuse.
 */
const range = [11_000, 32_000] as const;

export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...range);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      ({ code }) => {
        if (code !== 'EADDRINUSE') throw new Error(`No server can listen: ${code}`);
        return false;
      },
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
