// Receives webhooks and accepts only those that Stamm has signed.
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { verifyWebhook, WebhookError } from '@stamm/client';

createServer(async (request, response) => {
  try {
    const body = await buffer(request);
    const event = await verifyWebhook({
      secret: process.env.WEBHOOK_SECRET!,
      headers: request.headers,
      body,
    });
    console.log(`${event.type} ${request.headers['webhook-id']}`);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(error instanceof WebhookError ? 400 : 500).end();
  }
}).listen(Number(process.env.PORT), '127.0.0.1');
