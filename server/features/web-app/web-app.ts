// Serves the office's web app from memory: the files of web/build.ts. Every path that is neither a file nor the
// service's own is a page that the app's router resolves.
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../errors.ts';

const directory = path.resolve(import.meta.dirname, '../../../web/dist');

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
};

/** Paths below these are the service's own: a wrong one gets an error, not a page. */
const ownPrefixes = ['/api', '/app', '/assets', '/docs', '/openapi.json', '/livez', '/readyz', '/metrics'];

interface File {
  type: string;
  etag: string;
  isHashed: boolean;
  content: Buffer;
  brotli: Buffer | undefined;
  gzip: Buffer | undefined;
}

interface Page {
  parts: readonly string[];
  /** As the content security policy names it, after a space. */
  tilesHost: string;
}

const notBuilt = `<!doctype html><meta charset="utf-8"><title>Stamm</title>
<p>The web app has not been built. Run <code>npm ci</code>, or <code>node web/build.ts</code>, and start the service again.
The API and its <a href="/docs">guide</a> work without it.</p>`;

/** Not a plugin: what no route answers is decided here, for everything outside the API and the app's own calls. */
export async function addWebApp(app: FastifyInstance, tilesUrl: string | undefined): Promise<void> {
  const hidden = { schema: { hide: true } };
  const contents = await readBuiltFiles();
  const template = contents.get('/index.html')?.toString() ?? notBuilt;
  const page: Page = {
    parts: template.split('%STYLE_NONCE%'),
    tilesHost: tilesUrl === undefined ? '' : ` ${new URL(tilesUrl).origin}`,
  };

  app.get('/', hidden, async (_request, reply) => sendPage(reply, page));
  const files = describeFiles(contents);
  // One route for hundreds of files: the start does not wait for a route of each.
  app.get('/assets/:name', hidden, async (request, reply) => {
    const file = files.get(request.url.split('?', 1)[0]!);
    if (!file) throw new ApiError('not_found');
    return sendFile(request, reply, file);
  });
  for (const [address, file] of files) {
    if (file.isHashed) continue;
    app.get(address, hidden, async (request, reply) => sendFile(request, reply, file));
  }
  app.setNotFoundHandler(async (request, reply) => {
    const address = request.url.split('?', 1)[0]!;
    const isOwn = ownPrefixes.some((prefix) => address === prefix || address.startsWith(`${prefix}/`));
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const isPage = isRead && request.headers.accept?.includes('text/html') && !isOwn;
    if (!isPage) throw new ApiError('not_found');
    return sendPage(reply, page);
  });
}

/** By the list of web/build.ts, since another process may replace the folder meanwhile: then read it again. */
async function readBuiltFiles(triesLeft = 5): Promise<Map<string, Buffer>> {
  const list = await readFile(path.join(directory, 'fingerprint'), 'utf8').catch(() => '');
  const names = list.split('\n').slice(1);
  const read = async (name: string) =>
    [`/${name.replaceAll(path.sep, '/')}`, await readFile(path.join(directory, name))] as const;
  try {
    return new Map(await Promise.all(names.map(read)));
  } catch (error) {
    if (triesLeft === 0) throw error;
    await pause(100);
    return await readBuiltFiles(triesLeft - 1);
  }
}

function describeFiles(contents: Map<string, Buffer>): Map<string, File> {
  const files = new Map<string, File>();
  for (const [address, content] of contents) {
    const type = types[path.extname(address)];
    if (!type) continue;
    files.set(address, {
      type,
      etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`,
      isHashed: address.startsWith('/assets/'),
      content,
      brotli: contents.get(`${address}.br`),
      gzip: contents.get(`${address}.gz`),
    });
  }
  return files;
}

const commonHeaders = { 'Referrer-Policy': 'same-origin' };

/** Whether a header of the kind "gzip, br;q=0.5" names an encoding, and not only to say that it is unwanted. */
function isAccepted(encoding: string, header: string): boolean {
  return header.split(',').some((part) => {
    const [name = '', weight = ''] = part.split(';').map((word) => word.trim().toLowerCase());
    return name === encoding && !/^q=0(\.0*)?$/.test(weight);
  });
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: File): FastifyReply {
  const accepted = String(request.headers['accept-encoding'] ?? '');
  const [encoding, content] =
    file.brotli && isAccepted('br', accepted)
      ? ['br', file.brotli]
      : file.gzip && isAccepted('gzip', accepted)
        ? ['gzip', file.gzip]
        : [undefined, file.content];
  // The encodings are different bytes, so each has a tag of its own.
  const etag = encoding ? file.etag.replace(/"$/, `-${encoding}"`) : file.etag;
  reply.headers({
    ...commonHeaders,
    'Cache-Control': file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    Vary: 'Accept-Encoding',
    ETag: etag,
  });
  if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
  if (encoding) reply.header('Content-Encoding', encoding);
  return reply.type(file.type).send(content);
}

/**
 * The component library writes a few style elements at run time, with the page's nonce. It sets single styles through
 * the DOM, which no policy stops. So nothing inline is allowed.
 */
function sendPage(reply: FastifyReply, { parts, tilesHost }: Page): FastifyReply {
  const nonce = randomBytes(16).toString('base64url');
  return reply
    .headers({
      ...commonHeaders,
      'Cache-Control': 'no-store',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Content-Security-Policy': [
        "default-src 'self'",
        `style-src 'self' 'nonce-${nonce}'`,
        `img-src 'self' data:${tilesHost}`,
        `connect-src 'self'${tilesHost}`,
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
      ].join('; '),
    })
    .type('text/html; charset=utf-8')
    .send(parts.join(nonce));
}
