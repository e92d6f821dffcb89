// The last seconds of a process. It is not ready any more, its answers close their connections, and it serves every
// request until proxies have noticed.
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    drain: Drain;
  }
}

export interface Drain {
  isUnderWay: boolean;
  begin(): void;
}

export function addDrain(app: FastifyInstance): void {
  const sockets = new Set<Socket>();
  const server: Server = app.server;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const drain: Drain = {
    isUnderWay: false,
    begin() {
      if (drain.isUnderWay) return;
      drain.isUnderWay = true;
      for (const socket of sockets) {
        // The answer that Node has under way. One whose head is sent ends, and the next one closes the connection.
        const { _httpMessage: begun } = socket as Socket & { _httpMessage?: ServerResponse };
        if (begun && !begun.headersSent) begun.shouldKeepAlive = false;
      }
      server.prependListener('request', (_request, response) => {
        response.shouldKeepAlive = false;
      });
    },
  };
  app.decorate('drain', drain);
}
