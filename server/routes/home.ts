// What somebody sees who opens the service's address in a browser.
import type { FastifyInstance } from 'fastify';

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Stamm</title>
<link rel="icon" href="data:,">
<style>
  body { font: 1.1rem/1.6 system-ui, sans-serif; max-width: 38rem; margin: 15vh auto; padding: 0 1.5rem }
  code { font-size: .95em }
</style>
<h1>Stamm</h1>
<p>This is the master-data service of a plant-care business. It is running.</p>
<ul>
  <li><a href="/docs">Reference of the API</a>, to read and to try</li>
  <li><a href="/openapi.json">OpenAPI document</a>, for code generators</li>
  <li>API base: <code>/api/v1</code>, with your key in the header <code>ApiKey</code></li>
</ul>
<p>The office's web app is not part of this version; whoever operates the service makes keys at the command line.</p>
</html>
`;

export async function homeRoutes(app: FastifyInstance): Promise<void> {
  app.get('/', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; img-src data:")
      .send(page),
  );
}
