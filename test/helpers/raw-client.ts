// A client that sends bytes, not requests, and reads the answer up to a bound.
import { connect, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Answer } from './declared-answers.ts';
import { patienceMs } from './waiting.ts';

export async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as { port: number }).port;
}

export interface Exchange {
  answers: Answer[];
  /** Everything that came back. */
  text: string;
  isClosedByServer: boolean;
  /** Whether the client had to end its side before anything came back, because its request was incomplete. */
  isGivenUp: boolean;
}

/**
 * Sends bytes and resolves as soon as this many answers are complete, or the server has closed the connection. Rejects
 * if neither happens: the connection hangs. `givesUpAfterMs` is for bytes that may be half a request. No answer is due
 * before the client ends its side.
 */
export function exchange(
  port: number,
  bytes: string | Buffer | ((socket: Socket) => void),
  { answers: wanted = 1, endsAfterSending = false, givesUpAfterMs = patienceMs + 1 } = {},
): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    const received: Buffer[] = [];
    let isGivenUp = false;
    const givingUp = setTimeout(() => {
      isGivenUp = true;
      socket.end();
    }, givesUpAfterMs);
    const finish = (isClosedByServer: boolean) => {
      clearTimeout(timer);
      clearTimeout(givingUp);
      socket.destroy();
      const all = Buffer.concat(received);
      resolve({ answers: parseAnswers(all), text: all.toString('latin1'), isClosedByServer, isGivenUp });
    };
    const timer = setTimeout(() => {
      clearTimeout(givingUp);
      socket.destroy();
      reject(new Error(`the connection hangs after ${JSON.stringify(Buffer.concat(received).toString())}`));
    }, patienceMs);
    socket.on('data', (chunk: Buffer) => {
      received.push(chunk);
      if (parseAnswers(Buffer.concat(received)).length >= wanted) finish(false);
    });
    socket.on('end', () => finish(true));
    // A reset is how a server closes on a client that goes on sending; what had arrived before it counts.
    socket.on('error', () => finish(true));
    socket.on('connect', () => {
      if (typeof bytes === 'function') bytes(socket);
      else socket.write(bytes);
      if (endsAfterSending) socket.end();
    });
  });
}

/** The complete answers in these bytes, without interim ones such as 100 Continue. */
function parseAnswers(bytes: Buffer): Answer[] {
  const answers: Answer[] = [];
  let rest = bytes;
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) return answers;
    const [statusLine = '', ...lines] = rest.subarray(0, headEnd).toString('latin1').split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    const bodyEnd = headEnd + 4 + Number(headers['content-length'] ?? 0);
    if (rest.length < bodyEnd) return answers;
    if (status !== 100) {
      answers.push({ status, headers, body: rest.subarray(headEnd + 4, bodyEnd).toString('utf8') });
    }
    rest = rest.subarray(bodyEnd);
  }
}

/** The bytes of a POST with a JSON body. Headers come instead of the usual ones where they have the same name. */
export function postBytes(path: string, body: string, headers: Record<string, string> = {}): string {
  const all = {
    Host: 'localhost',
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
