import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Browser, Page } from 'playwright-core';
import { referenceRoutes } from '../../server/features/reference/reference-routes.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { launchChromium } from './helpers/chromium.ts';

const document = {
  openapi: '3.1.0',
  info: { title: 'Stamm API', version: '1.0.0', description: 'Master data of **plant-care** businesses.' },
  servers: [{ url: '/api/v1' }],
  security: [{ ApiKey: [] }],
  tags: [{ name: 'Customers', description: 'Who pays.' }],
  paths: {
    '/customer': {
      post: {
        tags: ['Customers'],
        summary: 'Create a customer',
        operationId: 'createCustomer',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Customer' } } },
        },
        responses: {
          201: {
            description: 'The customer was created.',
            content: {
              'application/json': {
                schema: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } } },
              },
            },
          },
        },
      },
    },
  },
  components: {
    securitySchemes: { ApiKey: { type: 'apiKey', in: 'header', name: 'ApiKey' } },
    schemas: {
      Customer: {
        type: 'object',
        required: ['companyName'],
        properties: {
          companyName: { type: 'string', maxLength: 100, examples: ['Grünwerk GmbH'] },
          status: { type: 'string', enum: ['ACTIVE', 'INACTIVE'] },
        },
      },
    },
  },
};

const createdId = '0199d0a4-7b1c-7000-8000-000000000001';

describe('the API reference', { skip: withoutChromium }, () => {
  let app: FastifyInstance;
  let browser: Browser;
  let origin: string;

  before(async () => {
    app = Fastify();
    app.get('/openapi.json', async () => document);
    app.post('/api/v1/customer', async (_request, reply) => reply.code(201).send({ id: createdId }));
    app.register(referenceRoutes);
    origin = await app.listen({ host: '127.0.0.1', port: 0 });
    browser = await launchChromium();
  });

  after(async () => {
    await browser?.close();
    await app?.close();
  });

  /** Collects what a page must not do. A request that the content security policy stops still counts. */
  async function openReference(): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    const complaints: string[] = [];
    page.on('request', (request) => {
      const isOwn = [origin, 'null'].includes(new URL(request.url()).origin);
      if (!isOwn) complaints.push(`request to ${request.url()}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.status()} for ${response.url()}`);
    });
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => complaints.push(`page: ${error.message}`));
    await page.exposeFunction('complain', (text: string) => complaints.push(text));
    await page.addInitScript(
      `addEventListener('securitypolicyviolation', (event) =>
        complain('violates ' + event.violatedDirective + ': ' + event.blockedURI));`,
    );
    await page.goto(`${origin}/docs/reference`);
    await page.getByRole('heading', { name: 'Create a customer' }).waitFor();
    await page.evaluate('document.fonts.ready');
    return { page, complaints };
  }

  test('shows the operations without a request to another host and without an error', async () => {
    const { page, complaints } = await openReference();
    assert.equal(await page.title(), 'Stamm API');
    const advertisements = page.locator('a[href*="scalar.com"]').or(page.getByText(/Ask AI|MCP/));
    assert.equal(await advertisements.filter({ visible: true }).count(), 0);
    assert.deepEqual(complaints, []);
    await page.close();
  });

  test('sends a trial request to its own origin with the key, and stores the key nowhere', async () => {
    const { page, complaints } = await openReference();
    const key = 'stamm_012345678901234567890123456789abcdef';
    await page.getByLabel('Value').first().fill(key);
    await page.getByRole('button', { name: 'Test Request' }).click();
    const sent = page.waitForRequest(`${origin}/api/v1/customer`);
    await page.getByRole('button', { name: 'Send', exact: false }).first().click();
    assert.equal((await sent).headers().apikey, key);
    await page.getByText(createdId).first().waitFor();

    const stored = [
      await page.context().storageState({ indexedDB: true }),
      await page.evaluate('({ ...sessionStorage })'),
    ];
    assert.ok(!JSON.stringify(stored).includes(key));
    await page.reload();
    await page.getByLabel('Value').first().waitFor();
    assert.equal(await page.getByLabel('Value').first().inputValue(), '');
    assert.deepEqual(complaints, []);
    await page.close();
  });

  test('allows styles by a nonce that no other answer has, and no script of the page itself', async () => {
    const policies = await Promise.all(
      [1, 2].map(async () => {
        const { headers, body } = await app.inject('/docs/reference');
        const policy = String(headers['content-security-policy']).split('; ');
        const [, nonce] = /<meta property="csp-nonce" content="([\w-]{22})">/.exec(body)!;
        assert.ok(policy.includes(`style-src 'self' 'nonce-${nonce}'`), policy.join('; '));
        assert.deepEqual(
          policy.filter((rule) => rule.includes('unsafe')),
          ["style-src-attr 'unsafe-inline'"],
        );
        return nonce;
      }),
    );
    assert.notEqual(policies[0], policies[1]);
  });

  test('the bundle is kept for a year under its version only, and is the same compressed and plain', async () => {
    const { body } = await app.inject('/docs/reference');
    const url = /"(\/docs\/reference\/scalar\.js\?v=[^"]+)"/.exec(body)?.[1];
    assert.ok(url);
    const compressed = await app.inject({ url, headers: { 'accept-encoding': 'gzip, br' } });
    assert.equal(compressed.headers['content-encoding'], 'gzip');
    assert.equal(compressed.headers['cache-control'], 'public, max-age=31536000, immutable');
    const plain = await app.inject(url);
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.ok(gunzipSync(compressed.rawPayload).equals(plain.rawPayload));

    const revalidated = await app.inject({ url, headers: { 'if-none-match': `${plain.headers.etag}` } });
    assert.equal(revalidated.statusCode, 304);
    const ofAnotherVersion = await app.inject('/docs/reference/scalar.js?v=other');
    assert.equal(ofAnotherVersion.headers['cache-control'], 'no-cache');
  });
});
