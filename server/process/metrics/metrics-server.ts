// GET /metrics on a port of its own, apart from the public one.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';

export interface MetricsServer {
  port: number;
  close(): Promise<void>;
}

interface Source {
  contentType: string;
  read(): Promise<string>;
}

/** Throws Node's own error where it cannot listen. Scrapes at the same moment share one answer. */
export async function openMetricsServer(
  { host, port }: { host: string; port: number },
  source: Source,
  log: FastifyBaseLogger,
): Promise<MetricsServer> {
  let current: Promise<string> | undefined;
  const read = () => {
    current ??= source.read().finally(() => {
      current = undefined;
    });
    return current;
  };
  const server = createServer(async (request, response) => {
    const isAsked = request.url?.split('?', 1)[0] === '/metrics';
    if (!isAsked || (request.method !== 'GET' && request.method !== 'HEAD'))
      return response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Metrics are at GET /metrics.\n');
    try {
      const text = await read();
      response.writeHead(200, { 'Content-Type': source.contentType, 'Cache-Control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : text);
    } catch (error) {
      log.error(error, 'metrics could not be read');
      response.writeHead(500, { 'Content-Type': 'text/plain' }).end('See the log of the service.\n');
    }
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
