// Senders that create customers on kept-alive connections, one request after the other, and remember what became of each.
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { validCustomer } from '../../helpers/service.ts';
import { patienceMs, startWatch } from '../../helpers/waiting.ts';
import { cleanUpLater } from './process.ts';

export interface Attempt {
  key: string;
  /** The comment of the customer, which no other customer has. Attempts that repeat each other share it. */
  marker: string;
  /** Times of performance.now(): the bytes were given to the kernel, the whole answer was there. */
  sentAt: number;
  answeredAt: number;
  /** Without what the machine was late. */
  tookMs: number;
  /** Without a status there was no answer, and `failure` says why. */
  status?: number;
  id?: string;
  code?: string;
  failure?: string;
}

export interface Load {
  /** Everything that has been answered, or has failed, so far. */
  attempts: Attempt[];
  /** Lets requests under way end. */
  stop(): Promise<Attempt[]>;
}

const retryDelayMs = 20;

/**
 * Repeaters among the senders send a request with an Idempotency-Key, and again until it is answered with 201. With
 * `close` each request has a connection of its own.
 */
export function startLoad(
  origin: string,
  key: string,
  senders = 16,
  repeaters = 0,
  connectionHeader: 'keep-alive' | 'close' = 'keep-alive',
): Load {
  const { hostname, port } = new URL(origin);
  const attempts: Attempt[] = [];
  let isStopping = false;

  async function send(sender: number): Promise<void> {
    const isRepeater = sender < repeaters;
    let connection: Connection | undefined;
    let marker: string | undefined;
    while (!isStopping) {
      marker ??= randomUUID();
      const request = buildRequest(key, marker, isRepeater, connectionHeader);
      const attempt: Attempt = { key, marker, sentAt: performance.now(), answeredAt: 0, tookMs: 0 };
      let watch = startWatch();
      try {
        connection ??= await openConnection(hostname, Number(port));
        attempt.sentAt = performance.now();
        watch = startWatch();
        const { isLast, ...answer } = await connection.send(request);
        Object.assign(attempt, answer);
        if (isLast) connection = closeConnection(connection);
      } catch (error) {
        attempt.failure = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
        connection = connection && closeConnection(connection);
      }
      attempt.answeredAt = performance.now();
      attempt.tookMs = watch();
      attempts.push(attempt);
      if (attempt.status === 201 || !isRepeater) marker = undefined;
      if (attempt.status !== 201) await sleep(retryDelayMs);
    }
    if (connection) closeConnection(connection);
  }

  const sending = Promise.all(Array.from({ length: senders }, (_, sender) => send(sender)));
  async function stop(): Promise<Attempt[]> {
    isStopping = true;
    await sending;
    return attempts;
  }
  cleanUpLater(stop);
  return { attempts, stop };
}

function buildRequest(key: string, marker: string, isRepeatable: boolean, connectionHeader: string): string {
  const body = JSON.stringify({ ...validCustomer, comment: marker });
  return [
    'POST /api/v1/customer HTTP/1.1',
    'Host: stamm.test',
    `ApiKey: ${key}`,
    `Connection: ${connectionHeader}`,
    ...(isRepeatable ? [`Idempotency-Key: ${marker}`] : []),
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

export const idsOf = (attempts: readonly Attempt[]) =>
  attempts.filter(({ status }) => status === 201).map(({ id }) => id!);

interface Answer {
  status: number;
  id?: string;
  code?: string;
  isLast: boolean;
}

interface Connection {
  socket: Socket;
  send(request: string): Promise<Answer>;
}

function closeConnection({ socket }: Connection): undefined {
  socket.destroy();
}

function openConnection(host: string, port: number): Promise<Connection> {
  const opened = Promise.withResolvers<Connection>();
  let waiting: PromiseWithResolvers<Answer> | undefined;
  let received = '';
  const socket = connect({ host, port, noDelay: true });
  socket.setEncoding('utf8').setTimeout(patienceMs, () => socket.destroy(new Error('no answer')));
  socket.on('data', (text: string) => {
    received += text;
    const answer = parseAnswer(received);
    if (!answer) return;
    received = '';
    waiting?.resolve(answer);
  });
  socket.on('error', (error) => {
    opened.reject(error);
    waiting?.reject(error);
  });
  socket.on('close', () => waiting?.reject(new Error('closed')));
  socket.on('connect', () => {
    opened.resolve({
      socket,
      send(request) {
        waiting = Promise.withResolvers();
        if (socket.destroyed) waiting.reject(new Error('closed'));
        else socket.write(request);
        return waiting.promise;
      },
    });
  });
  return opened.promise;
}

/** The service's answers are short JSON texts with a Content-Length; those of a proxy are HTML. */
function parseAnswer(text: string): Answer | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = text.slice(0, headEnd);
  const body = text.slice(headEnd + 4);
  if (Buffer.byteLength(body) < Number(/^content-length: (\d+)/im.exec(head)![1])) return undefined;
  const { id, code } = /^content-type: application\/json/im.test(head) ? JSON.parse(body) : {};
  return { status: Number(head.split(' ')[1]), id, code, isLast: /^connection: close/im.test(head) };
}
