// A client of POST /import that sends and reads side by side, over a real socket.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { Ajv2020 } from 'ajv/dist/2020.js';
import document from '../../../generated/openapi.json' with { type: 'json' };

const ajv = new Ajv2020({ strict: false, formats: { uuid: true } });
ajv.addSchema(document, 'openapi');
const validators = {
  line: ajv.getSchema('openapi#/components/schemas/ImportResult')!,
  summary: ajv.getSchema('openapi#/components/schemas/ImportSummary')!,
};

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Answer = any;

export interface ImportTarget {
  port: number;
  key: string;
  query?: string;
  headers?: Record<string, string>;
}

/** An import whose lines are sent one by one. */
export function openImport({ port, key, query = '', headers = {} }: ImportTarget) {
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: `/api/v1/import${query}`,
    agent: false,
    headers: { apikey: key, 'content-type': 'application/x-ndjson', ...headers },
  });
  request.on('error', () => {});
  const response = once(request, 'response').then(([message]) => message as IncomingMessage);
  response.catch(() => {});
  const answers = readAnswers(response);
  return {
    request,
    response,
    /** Sends a line as it is, or as JSON. */
    send: (line: unknown) => request.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`),
    end: () => request.end(),
    next: async (): Promise<Answer> => (await answers.next()).value,
    rest: async (): Promise<Answer[]> => Array.fromAsync(answers),
  };
}

/** Every line of an answer is one that the OpenAPI document declares. */
async function* readAnswers(response: Promise<IncomingMessage>): AsyncGenerator<Answer> {
  const message = await response;
  assert.equal(message.statusCode, 200);
  assert.equal(message.headers['content-type'], 'application/x-ndjson; charset=utf-8');
  for await (const text of createInterface({ input: message })) {
    const answer = JSON.parse(text);
    const validate = 'summary' in answer ? validators.summary : validators.line;
    assert.ok(validate(answer), `${ajv.errorsText(validate.errors)}: ${text}`);
    const { properties } = validate.schema as { properties: object };
    assert.deepEqual(
      Object.keys(answer).filter((name) => !(name in properties)),
      [],
    );
    yield answer;
  }
}

/** Sends all lines and reads all answers. The summary stands apart from the results. */
export async function sendImport(target: ImportTarget, lines: readonly unknown[]) {
  const opened = openImport(target);
  for (const line of lines) opened.send(line);
  opened.end();
  const answers = await opened.rest();
  const { summary } = answers.pop();
  return { results: answers, summary };
}

/** For answers that are no import: the status and the body of an error. */
export async function refusedImport(target: ImportTarget, body = '') {
  const opened = openImport(target);
  opened.request.end(body);
  const message = await opened.response;
  const text = (await Array.fromAsync(message)).join('');
  return { status: message.statusCode, headers: message.headers, body: JSON.parse(text) };
}
