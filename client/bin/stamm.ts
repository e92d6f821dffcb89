#!/usr/bin/env node
// stamm listen: signed webhooks on a developer's machine, from the change feed. It needs no address that Stamm can reach.
import { parseArgs } from 'node:util';
import { listen } from '../src/listen.ts';

const usage = `Usage: stamm listen --forward-to http://127.0.0.1:9000/hook [options]

Sends every change to a local address as Stamm would send it: signed, one at a time, in order.

  --url URL               address of the service; STAMM_URL otherwise
  --key KEY               API key; better STAMM_KEY, which no list of processes shows
  --secret whsec_…        signs the messages; WEBHOOK_SECRET otherwise, or a new one that is printed
  --resources site,plant  only these types
  --exclude-origin erp    leaves out your own writes
  --after CURSOR          begins there; with what comes next otherwise
`;

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

const { values, positionals } = (() => {
  try {
    const text = { type: 'string' } as const;
    return parseArgs({
      allowPositionals: true,
      options: {
        'forward-to': text,
        url: text,
        key: text,
        secret: text,
        resources: text,
        'exclude-origin': text,
        after: text,
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    return fail(`${(error as Error).message}\n\n${usage}`);
  }
})();

if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
const forwardTo = values['forward-to'];
const baseUrl = values.url ?? process.env.STAMM_URL;
const apiKey = values.key ?? process.env.STAMM_KEY;
if (positionals.join(' ') !== 'listen' || !forwardTo) fail(usage);
if (!URL.canParse(forwardTo) || !/^https?:/.test(forwardTo))
  fail(`--forward-to: "${forwardTo}" is no address that begins with http:// or https://.`);
if (!baseUrl || !apiKey) fail('Set STAMM_URL and STAMM_KEY first.');

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
const given = values.secret ?? process.env.WEBHOOK_SECRET;
await listen({
  baseUrl,
  apiKey,
  forwardTo,
  ...(given && { secret: given }),
  ...(values.after && { after: values.after }),
  ...(values.resources && { resources: values.resources.split(',') }),
  ...(values['exclude-origin'] && { excludeOrigin: values['exclude-origin'] }),
  signal: stop.signal,
  log: (line) => void process.stdout.write(`${line}\n`),
}).catch((error: Error) => fail(error.message));
