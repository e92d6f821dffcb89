// A proxy between client and service that fails on purpose, one way per request.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

export type Failure =
  /** Carried out, but the answer is lost. */
  | 'cut-answer'
  /** The answer breaks off after its first bytes. */
  | 'cut-middle'
  | { status: number; headers?: Record<string, string>; body: string };

export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  atMs: number;
}

/** The next requests fail as listed; all others pass. */
export async function openUnreliableProxy(servicePort: number) {
  const failures: Failure[] = [];
  const seen: SeenRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    seen.push({ method, path: url, headers, atMs: performance.now() });
    const failure = failures.shift();
    if (typeof failure === 'object') answer(incoming, outgoing, failure);
    else forward(incoming, outgoing, failure, servicePort);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, failures, seen };
}

function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  failure: Exclude<Failure, string>,
): void {
  incoming.resume();
  outgoing.writeHead(failure.status, failure.headers).end(failure.body);
}

function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  failure: 'cut-answer' | 'cut-middle' | undefined,
  port: number,
): void {
  const { method, url: path, headers } = incoming;
  const onward = request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
    if (failure === 'cut-answer') {
      response.resume().once('end', () => outgoing.destroy());
      return;
    }
    outgoing.writeHead(response.statusCode!, response.headers);
    if (failure === 'cut-middle')
      response.once('data', (chunk) => outgoing.write(chunk, () => outgoing.destroy()));
    else response.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  outgoing.once('close', () => onward.destroy());
  incoming.pipe(onward);
}
