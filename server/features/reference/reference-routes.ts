// The interactive API reference at /docs/reference, drawn by Scalar from /openapi.json. The page asks no other host for anything.
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { notStored } from '../../http/answer-headers.ts';

// Scalar's defaults send telemetry, load fonts, offer an AI agent and link to its own products.
const configuration = {
  url: '/openapi.json',
  metaData: { title: 'Stamm API' },
  telemetry: false,
  withDefaultFonts: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  persistAuth: false,
  documentDownloadType: 'direct',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  orderSchemaPropertiesBy: 'preserve',
  // Hides a link to Scalar, and a placeholder that looks like a key in the field for the key.
  customCss: `
    .darklight-reference a[href*="scalar.com"] { display: none; }
    .scalar-password-input::placeholder { color: transparent !important; }`,
};

function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    // Scalar writes examples as HTML whose code elements carry their number of lines in a style attribute.
    "style-src-attr 'unsafe-inline'",
    "connect-src 'self'",
    "font-src 'self' data:",
    "img-src 'self' data: blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

// Zod, inside the bundle, probes whether it may compile code. This setting prevents it; the policy would report it.
// Scalar gives the nonce to its first style element only, and forgets it for the others.
const startScript = `globalThis.__zod_globalConfig = { jitless: true };
{
  const { content: nonce } = document.head.querySelector('meta[property=csp-nonce]');
  const { createElement } = Document.prototype;
  Document.prototype.createElement = function (name, options) {
    const element = createElement.call(this, name, options);
    if (name === 'style') element.nonce = nonce;
    return element;
  };
}
addEventListener('DOMContentLoaded', () =>
  Scalar.createApiReference('#reference', ${JSON.stringify(configuration)}));
`;

const page = (bundleVersion: string, nonce: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta property="csp-nonce" content="${nonce}">
<title>Stamm API</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>This page needs JavaScript. The document that it shows is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<div id="reference"></div>
<script src="/docs/reference/start.js"></script>
<script src="/docs/reference/scalar.js?v=${bundleVersion}"></script>
</body>
</html>
`;

const hidden = { schema: { hide: true } };

export async function referenceRoutes(app: FastifyInstance): Promise<void> {
  let loading: Promise<Bundle> | undefined;

  /** The bundle has a megabyte: it is read when somebody first opens the reference, and kept compressed. */
  function bundle(): Promise<Bundle> {
    loading ??= loadBundle().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  }

  app.get('/docs/reference', hidden, async (_request, reply) => {
    const nonce = randomBytes(16).toString('base64url');
    reply.headers({ 'Content-Security-Policy': contentSecurityPolicy(nonce), ...notStored });
    return reply.type('text/html; charset=utf-8').send(page((await bundle()).version, nonce));
  });

  app.get('/docs/reference/start.js', hidden, async (_request, reply) => {
    reply.header('Cache-Control', 'no-cache');
    return reply.type('text/javascript; charset=utf-8').send(startScript);
  });

  app.get<{ Querystring: { v?: string } }>('/docs/reference/scalar.js', hidden, async (request, reply) => {
    const { version, gzipped } = await bundle();
    const etag = `W/"${version}"`;
    // During an update another node may have written the page: its version gets ours, but must not keep it.
    const isVersionAsked = request.query.v === version;
    reply.headers({
      'Cache-Control': isVersionAsked ? 'public, max-age=31536000, immutable' : 'no-cache',
      ETag: etag,
      Vary: 'Accept-Encoding',
    });
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
    reply.type('text/javascript; charset=utf-8');
    if (!/\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '')) {
      return reply.send(await promisify(gunzip)(gzipped));
    }
    return reply.header('Content-Encoding', 'gzip').send(gzipped);
  });
}

interface Bundle {
  version: string;
  gzipped: Buffer;
}

/** As web/guide/build.ts made it. */
async function loadBundle(): Promise<Bundle> {
  const gzipped = await readFile(path.resolve(import.meta.dirname, '../../../web/guide/dist/scalar.js.gz'));
  return { version: createHash('sha256').update(gzipped).digest('base64url').slice(0, 16), gzipped };
}
