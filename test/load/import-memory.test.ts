import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { after, test } from 'node:test';
import { openImport, sendImport } from '../api/import/import-client.ts';
import { startService, validAddress } from '../helpers/service.ts';

/** A small heap, which measures needed memory and not memory that V8 has not freed yet. */
const heap = ['--max-old-space-size=96', '--max-semi-space-size=2'];
const maxGrowthBytes = 60 * 1024 * 1024;

const { serviceConnection, owner, createTenant } = await startService();
const child = fork(path.join(import.meta.dirname, 'import-process.ts'), [JSON.stringify(serviceConnection)], {
  execArgv: heap,
});
after(() => child.kill());

async function askChild(): Promise<{ port: number; maxRssBytes: number }> {
  child.send('tell');
  return (await once(child, 'message'))[0];
}

/** Nothing stores it, but an import that kept its lines would keep it: twice the memory that is allowed. */
const note = 'x'.repeat(4000);

/** A customer for every ten sites; one line in a hundred has a fault. */
function lineOf(number: number): string {
  const fault = number % 100 === 99 ? { address: {} } : {};
  const customer = Math.floor(number / 10);
  const line =
    number % 10 === 0
      ? {
          type: 'customer',
          data: {
            companyName: `Kunde ${customer}`,
            address: validAddress,
            externalId: `C-${customer}`,
            note,
          },
        }
      : {
          type: 'site',
          data: {
            name: `Standort ${number}`,
            customerExternalId: `C-${customer}`,
            externalId: `S-${number}`,
            address: validAddress,
            needsAppointment: true,
            hasKey: false,
            note,
            ...fault,
          },
        };
  return `${JSON.stringify(line)}\n`;
}

for (const [mode, lines] of [
  ['each', 30_000],
  ['all-or-nothing', 30_000],
] as const) {
  test(`${lines} lines with 1 % invalid ones are imported in bounded memory (${mode})`, async (t) => {
    const { key } = await createTenant();
    const { port } = await askChild();
    // What every process needs once is in memory before the measurement.
    await sendImport({ port, key }, [{ type: 'employee', data: { firstName: 'Jonas', lastName: 'Harms' } }]);
    const { maxRssBytes: before } = await askChild();
    const began = performance.now();
    const opened = openImport({ port, key, query: `?mode=${mode}` });
    const sending = (async () => {
      for (let number = 0; number < lines; number += 100) {
        const some = Array.from({ length: 100 }, (_, index) => lineOf(number + index)).join('');
        if (!opened.request.write(some)) await once(opened.request, 'drain');
      }
      opened.end();
    })();
    const counts = new Map<number, number>();
    let summary: Record<string, number> = {};
    for (let answer = await opened.next(); answer; answer = await opened.next()) {
      if (answer.summary) summary = answer.summary;
      else counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
    }
    await sending;
    const seconds = (performance.now() - began) / 1000;
    const growth = (await askChild()).maxRssBytes - before;
    t.diagnostic(
      `${Math.round(lines / seconds)} lines per second, ${Math.round(growth / 1024 ** 2)} MB more memory`,
    );

    const sound = mode === 'each' ? summary.created : summary.notStored;
    assert.deepEqual([sound, summary.failed], [lines * 0.99, lines * 0.01]);
    assert.deepEqual(Object.fromEntries(counts), {
      400: lines * 0.01,
      ...(mode === 'each' && { 201: lines * 0.99 }),
    });
    assert.ok(growth < maxGrowthBytes, `${growth} bytes more`);
    const { rows } = await owner.query(
      `SELECT count(*)::integer AS sites, count(DISTINCT customer_id)::integer AS customers FROM site
       WHERE tenant_id = (SELECT tenant_id FROM api_key WHERE last_four = $1)`,
      [key.slice(-4)],
    );
    assert.deepEqual(
      rows[0],
      mode === 'each' ? { sites: 26_700, customers: 3_000 } : { sites: 0, customers: 0 },
    );
  });
}
