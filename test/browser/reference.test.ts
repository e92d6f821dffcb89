import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Browser, Page } from 'playwright-core';
import { referenceRoutes } from '../../server/routes/reference.ts';
import { launchChromium } from './chromium.ts';

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

describe('the API reference', () => {
  let app: FastifyInstance;
  let browser: Browser;
  let origin: string;
  const keysReceived: unknown[] = [];

  before(async () => {
    app = Fastify();
    app.get('/openapi.json', async () => document);
    app.post('/api/v1/customer', async (request, reply) => {
      keysReceived.push(request.headers.apikey);
      return reply.code(201).send({ id: '0199d0a4-7b1c-7000-8000-000000000001' });
    });
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
    await page.goto(`${origin}/docs`);
    await page.getByRole('heading', { name: 'Create a customer' }).waitFor();
    await page.waitForLoadState('networkidle');
    return { page, complaints };
  }

  test('shows the operations without a request to another host and without an error', async () => {
    const { page, complaints } = await openReference();
    assert.equal(await page.title(), 'Stamm API');
    await page.screenshot({ path: '/tmp/reference.png' });
    assert.deepEqual(complaints, []);
    await page.close();
  });
});
