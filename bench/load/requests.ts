// Requests as a file that all generators read: one a line, with tabs between method, path, key and body.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';

export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** From the origin on. */
  path: string;
  key: string;
  body?: object;
}

export async function writeRequests(file: string, requests: readonly Request[]): Promise<string> {
  const lines = requests.map(({ method, path, key, body }) =>
    [method, path, key, body ? JSON.stringify(body) : ''].join('\t'),
  );
  await writeFile(file, lines.join('\n'));
  return file;
}

/** Each request as the bytes that are sent. */
export function readRequests(file: string, host: string): Buffer[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => {
      const [method, path, key, body = ''] = line.split('\t');
      const head = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, `ApiKey: ${key}`];
      if (body) head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
      return Buffer.from([...head, '', body].join('\r\n'));
    });
}
