// The least that a node:http server can do for the same requests: it parses the body, answers and stores nothing. A GET
// gets as many bytes as its path says: answers are as long as those of the service.
import { createServer } from 'node:http';

const answer = JSON.stringify({ id: '0198c0de-0000-7000-8000-000000000001' });
const headers = { 'Content-Type': 'application/json', 'Content-Length': String(answer.length) };
const texts = new Map<string, string>();

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const path = request.url!;
    const text = texts.get(path) ?? JSON.stringify('x'.repeat(Number(path.slice(1)) - 2));
    texts.set(path, text);
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': String(text.length) });
    response.end(text);
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(201, headers);
    response.end(answer);
  });
});
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as { port: number }).port }));
process.on('disconnect', () => process.exit());
