// A kept-alive connection of the generator: prepared bytes out, status in. It reads no more of an answer than where it
// ends, so that the generator takes little of the machine from what it measures.
import { connect, type Socket } from 'node:net';

export interface Connection {
  socket: Socket;
  /** `onAnswer` is told the status, or 0 where the connection ended without an answer. */
  send(request: Buffer, onAnswer: (status: number) => void): void;
}

export function openConnection(host: string, port: number): Connection {
  const socket = connect({ host, port, noDelay: true });
  let waiting: ((status: number) => void) | undefined;
  let received: Buffer | undefined;
  let status = 0;
  /** Bytes of the body that have yet to come; undefined while the head is not complete. */
  let missing: number | undefined;
  let isLast = false;

  const settle = (outcome: number) => {
    const tell = waiting;
    waiting = undefined;
    missing = undefined;
    received = undefined;
    tell?.(outcome);
  };

  socket.on('data', (bytes: Buffer) => {
    if (missing === undefined) {
      received = received ? Buffer.concat([received, bytes]) : bytes;
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const head = received.toString('latin1', 0, headEnd);
      status = Number(head.slice(9, 12));
      isLast = /^connection: close/im.test(head);
      if (/^transfer-encoding: chunked/im.test(head)) {
        if (!received.subarray(-5).equals(lastChunk)) return;
        missing = 0;
      } else {
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
        missing = length - (received.length - headEnd - 4);
      }
    } else missing -= bytes.length;
    if (missing > 0) return;
    if (isLast) socket.destroy();
    settle(status);
  });
  socket.on('error', () => {});
  socket.on('close', () => settle(0));
  return {
    socket,
    send(request, onAnswer) {
      waiting = onAnswer;
      socket.write(request);
    },
  };
}

const lastChunk = Buffer.from('0\r\n\r\n');
