// Sends rows that PostgreSQL wrote as JSON. A page of 4 MB takes several turns of the event loop to encode.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { paceOf } from './request-pace.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Removes from a row what the person must not see. Undefined once every row has lost it. */
    hideInRow: ((json: string) => string) | undefined;
  }
}

/** Shorter texts are encoded together. */
const pieceLength = 32 * 1024;

/** Sends `lists` and then `more` as the members of one object. */
export async function sendRows(
  request: FastifyRequest,
  reply: FastifyReply,
  lists: Record<string, readonly { json: string | null }[]>,
  more: object,
): Promise<FastifyReply> {
  const pace = paceOf(request);
  const pieces: Buffer[] = [];
  let text = '';
  for (const part of partsOf(lists, more, request.hideInRow)) {
    text += part;
    if (text.length < pieceLength) continue;
    pieces.push(Buffer.from(text));
    text = '';
    await pace.step();
  }
  pieces.push(Buffer.from(text));
  request.hideInRow = undefined;
  return reply.type('application/json; charset=utf-8').send(Buffer.concat(pieces));
}

function* partsOf(
  lists: Record<string, readonly { json: string | null }[]>,
  more: object,
  hide = (json: string) => json,
): Generator<string> {
  let before = '{';
  for (const [name, rows] of Object.entries(lists)) {
    yield `${before}${JSON.stringify(name)}:[`;
    before = '';
    for (const { json } of rows) {
      yield before + hide(json!);
      before = ',';
    }
    before = '],';
  }
  const members = JSON.stringify(more).slice(1);
  yield members === '}' ? ']}' : before + members;
}
