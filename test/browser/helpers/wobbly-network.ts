// A network between browser and service that goes away, comes back and breaks, for pages and service workers alike.
import { connect, createServer, type Socket } from 'node:net';
import { after } from 'node:test';

export interface WobblyNetwork {
  origin: string;
  set: (next: 'on' | 'off' | 'flaky') => void;
  /** The service behind it has another port after a restart. */
  leadTo: (port: number) => void;
}

/** Runs after the tests of the file, wherever the network was opened. */
const closings: (() => void)[] = [];
after(() => {
  for (const close of closings) close();
});

export async function openNetwork(port: number): Promise<WobblyNetwork> {
  let state: 'on' | 'off' | 'flaky' = 'on';
  let target = port;
  let count = 0;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    open.add(near);
    near.on('close', () => open.delete(near)).on('error', () => {});
    count += 1;
    if (state === 'off') return near.destroy();
    const far = connect(target, '127.0.0.1');
    open.add(far);
    far.on('close', () => open.delete(far)).on('error', () => near.destroy());
    near.on('close', () => far.destroy());
    far.on('end', () => near.end());
    // Every second connection ends with its first request: sometimes before it arrives, sometimes before its answer does.
    const breaksAt =
      state === 'flaky' && count % 2 === 0 ? (count % 4 === 0 ? 'request' : 'answer') : undefined;
    near.on('data', (part) => (breaksAt === 'request' ? near.destroy() : far.write(part)));
    far.on('data', (part) => (breaksAt === 'answer' ? near.destroy() : near.write(part)));
    return near;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  closings.push(() => {
    cut();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The network has no port.');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    set: (next) => {
      state = next;
      cut();
    },
    leadTo: (next) => {
      target = next;
      cut();
    },
  };
}
