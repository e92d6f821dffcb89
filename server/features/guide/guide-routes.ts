// The guide at /docs and the client's package: what web/guide/build.ts made, from memory. Nothing inline, so the policy allows nothing inline.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';

const directory = path.resolve(import.meta.dirname, '../../../web/guide/dist');

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.tgz': 'application/gzip',
  '.yaml': 'application/yaml',
};

const firstPage = 'first-call.html';

const contentSecurityPolicy = [
  "default-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const notBuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Stamm API</title>
<p>The guide has not been built. Run <code>npm ci</code> and start the service again.</p></html>`;

export async function guideRoutes(app: FastifyInstance): Promise<void> {
  const files = new Map<string, string | Buffer>();
  for (const name of await readdir(directory).catch(() => []))
    if (types[path.extname(name)]) files.set(name, await readFile(path.join(directory, name)));
  if (!files.has(firstPage)) files.set(firstPage, notBuilt);

  for (const [name, content] of files) {
    const extension = path.extname(name);
    const isPage = extension === '.html';
    // Weak: the page may be sent compressed.
    const etag = `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
    const headers = {
      'Content-Type': types[extension]!,
      'Cache-Control': hasHash(extension) ? 'public, max-age=31536000, immutable' : 'no-cache',
      ETag: etag,
      ...(isPage && { 'Content-Security-Policy': contentSecurityPolicy, 'Referrer-Policy': 'same-origin' }),
    };
    app.get(addressOf(name), { schema: { hide: true } }, async (request, reply) => {
      reply.headers(headers);
      if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
      return reply.send(content);
    });
  }
}

/** Styles and scripts have it in their name. */
function hasHash(extension: string): boolean {
  return extension === '.css' || extension === '.js';
}

function addressOf(name: string): string {
  return name === firstPage ? '/docs' : `/docs/${path.basename(name, '.html')}`;
}
