import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../helpers/service.ts';

type Service = Awaited<ReturnType<typeof startService>>;

const warningsOf = ({ logLines }: Service) =>
  logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg.includes('TRUST_PROXY'));

const ask = ({ app }: Service, remoteAddress: string, forwarded?: string) =>
  app.inject({
    url: '/livez',
    remoteAddress,
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  });

test('X-Forwarded-For from a peer that is not trusted is warned of once, with what to set', async () => {
  for (const TRUST_PROXY of [[], ['10.0.0.0/8']]) {
    const service = await startService({ TRUST_PROXY });
    await ask(service, '192.0.2.7');
    await ask(service, '192.0.2.7', '');
    assert.deepEqual(warningsOf(service), []);
    for (let count = 0; count < 3; count++) await ask(service, '192.0.2.7', '198.51.100.1, 198.51.100.2');
    const [{ level, address, msg }, ...more] = warningsOf(service) as [Record<string, unknown>];
    assert.deepEqual([level, address, more.length], [40, '192.0.2.7', 0]);
    assert.match(
      String(msg),
      /^X-Forwarded-For from 192\.0\.2\.7 is ignored\..* TRUST_PROXY=192\.0\.2\.7\.$/,
    );
    assert.ok(!String(msg).includes('198.51'), 'what the peer claims is not logged');
  }
});

test('X-Forwarded-For from a trusted peer is believed without a word', async () => {
  const service = await startService({ TRUST_PROXY: ['10.0.0.0/8', 'loopback'] });
  await ask(service, '10.0.0.9', '198.51.100.1');
  await ask(service, '127.0.0.1', '10.0.0.1');
  assert.deepEqual(warningsOf(service), []);
  assert.equal(JSON.parse(service.logLines[0]!).address, '198.51.100.1');
});
