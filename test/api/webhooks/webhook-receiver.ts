// A real HTTP server that receives webhooks, and answers as a test wants.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { findFreePort } from '../../helpers/free-port.ts';

export interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
  message: any;
}

export type Behaviour = (received: Received, response: ServerResponse, request: IncomingMessage) => void;

const accept: Behaviour = (_received, response) => response.end('thank you');

export async function startReceiver(behaviour: Behaviour = accept) {
  const received: Received[] = [];
  let port = 0;
  let server: Server | undefined;
  const receiver = {
    received,
    /** What it does with the next requests. */
    behaviour,
    accept: () => {
      receiver.behaviour = accept;
    },
    get url() {
      return `http://127.0.0.1:${port}/hook`;
    },
    /** The positions that arrived, each once, in the order of their first arrival. */
    cursors: () => [...new Set(received.map(({ message }) => message.data.cursor as string))],
    async open() {
      server = createServer(async (request, response) => {
        const body = await text(request).catch(() => undefined);
        if (body === undefined) return;
        const headers = request.headers as Record<string, string>;
        const one = { path: request.url!, headers, body, message: JSON.parse(body) };
        received.push(one);
        receiver.behaviour(one, response, request);
      });
      // While it is closed, nobody else takes its port.
      port ||= await findFreePort();
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    /** As when its machine is switched off: connections break, and new ones are refused. */
    async close() {
      if (!server?.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  await receiver.open();
  return receiver;
}

/** Throws unless the message was signed with this secret. */
export function verify({ body, headers }: Received, secret: string): void {
  new Webhook(secret).verify(body, headers);
}
