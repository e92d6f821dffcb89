// A kept-alive connection of the generator: prepared bytes out, status in. It reads only the end of an answer, into one
// buffer for all connections. So the generator takes little of the machine.
import { connect, type Socket } from 'node:net';

export interface Connection {
  socket: Socket;
  /** `onAnswer` receives the status, or 0 where the connection ended without an answer. */
  send(request: Buffer, onAnswer: (status: number) => void): void;
}

/** Read bytes are handled before the next read of any connection. */
const arrival = Buffer.allocUnsafeSlow(64 * 1024);

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');

export function openConnection(host: string, port: number): Connection {
  let waiting: ((status: number) => void) | undefined;
  /** The beginning of an answer whose head is not complete. */
  let beginning: Buffer | undefined;
  let answer: Head | undefined;
  /** Bytes of the body that have yet to come. */
  let missing = 0;
  /** The last bytes of a body in chunks. */
  let tail = Buffer.alloc(0);

  const settle = (outcome: number) => {
    const tell = waiting;
    waiting = undefined;
    answer = undefined;
    beginning = undefined;
    tell?.(outcome);
  };

  const take = (bytes: Buffer) => {
    let body = bytes;
    if (!answer) {
      const received = beginning ? Buffer.concat([beginning, bytes]) : bytes;
      const end = received.indexOf(headEnd);
      if (end < 0) {
        beginning = Buffer.from(received);
        return;
      }
      answer = readHead(received.toString('latin1', 0, end));
      missing = answer.length ?? 0;
      tail = Buffer.alloc(0);
      body = received.subarray(end + headEnd.length);
    }
    missing -= body.length;
    tail = Buffer.concat([tail, body.subarray(-lastChunk.length)]).subarray(-lastChunk.length);
    const isComplete = answer.length === undefined ? tail.equals(lastChunk) : missing <= 0;
    if (!isComplete) return;
    if (answer.isLast) socket.destroy();
    settle(answer.status);
  };

  const socket = connect({
    host,
    port,
    noDelay: true,
    onread: {
      buffer: arrival,
      callback(size) {
        take(arrival.subarray(0, size));
        return true;
      },
    },
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

interface Head {
  status: number;
  /** Of the body; undefined where it comes in chunks. */
  length: number | undefined;
  isLast: boolean;
}

function readHead(head: string): Head {
  const status = Number(head.slice(9, 12));
  const isLast = /\r\nconnection: close/i.test(head);
  if (/\r\ntransfer-encoding: chunked/i.test(head)) return { status, length: undefined, isLast };
  return { status, length: Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0), isLast };
}
