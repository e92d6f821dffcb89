// A program of its own that sends an import and reads its answers side by side. Lines are made as they are sent, so that
// millions of them need neither disk nor memory.
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { siteBody, tenantCount } from '../data/tenants.ts';
import type { ImportOrder, ImportReport } from './import-load.ts';

const order: ImportOrder = JSON.parse(process.argv[2]!);
/** Lines are sent in blocks of this many. */
const blockLines = 200;

const request = httpRequest(`${order.origin}/api/v1/import`, {
  method: 'POST',
  agent: false,
  headers: { ApiKey: order.key, 'Content-Type': 'application/x-ndjson' },
});

/** The numbers of a tenant's bodies are those that leave its own number as the rest. */
function makeLine(index: number): string {
  const number = index * tenantCount + order.tenant;
  return `${JSON.stringify({ type: 'site', data: { externalId: `${order.prefix}${number}`, ...siteBody(number) } })}\n`;
}

async function sendLines(): Promise<number> {
  const endsAt = performance.now() + (order.seconds ?? Number.POSITIVE_INFINITY) * 1000;
  let sent = 0;
  while (sent < order.lines && performance.now() < endsAt) {
    let block = '';
    for (const end = Math.min(sent + blockLines, order.lines); sent < end; sent++) block += makeLine(sent);
    if (!request.write(block)) await once(request, 'drain');
  }
  request.end();
  return sent;
}

/** Counts the results and reads the last line, which sums them up. */
async function readAnswers(response: IncomingMessage) {
  let lines = 0;
  let rest = '';
  for await (const chunk of response.setEncoding('utf8')) {
    const text: string = rest + chunk;
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      const line = text.slice(from, end).trimStart();
      if (line.startsWith('{"summary"')) return { lines, ...JSON.parse(line) };
      from = end + 1;
      lines++;
    }
    rest = text.slice(from);
  }
  throw new Error(`The import was answered with ${response.statusCode}, and without a summary: ${rest}`);
}

const startedAt = performance.now();
const answered = once(request, 'response').then(([response]) => readAnswers(response));
const [sent, { lines, summary }] = await Promise.all([sendLines(), answered]);
const report: ImportReport = {
  sent,
  answered: lines,
  created: summary.created,
  seconds: (performance.now() - startedAt) / 1000,
};
process.send!(report, () => process.exit());
process.on('disconnect', () => process.exit());
