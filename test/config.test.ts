import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import Fastify from 'fastify';
import { ConfigError, readConfig } from '../server/config.ts';

test('a core is left to the PostgreSQL that Stamm brings, and none to one that is elsewhere', () => {
  const cores = availableParallelism();
  assert.equal(readConfig({}).WORKERS, Math.max(1, cores - 1));
  assert.equal(readConfig({ DATABASE_URL: 'postgres://localhost/stamm' }).WORKERS, cores);
  assert.equal(readConfig({ WORKERS: '7' }).WORKERS, 7);
});

test('backups are beside the data that Stamm keeps, where the operator says, or off', () => {
  const elsewhere = { DATABASE_URL: 'postgres://localhost/stamm' };
  assert.equal(readConfig({ DATA_DIR: '/srv/stamm' }).BACKUP_DIR, '/srv/stamm/backups');
  assert.equal(readConfig(elsewhere).BACKUP_DIR, undefined);
  assert.equal(readConfig({ ...elsewhere, BACKUP_DIR: '/backups' }).BACKUP_DIR, '/backups');
  assert.equal(readConfig({ BACKUP_DIR: 'off' }).BACKUP_DIR, undefined);
  assert.deepEqual([readConfig({}).BACKUP_EVERY, readConfig({}).BACKUP_KEEP], [24, 14]);
});

test('tiles come from a file or from a host, not from both', () => {
  assert.equal(
    readConfig({ MAP_TILES_FILE: '/srv/stamm/germany.pmtiles' }).MAP_TILES_FILE,
    '/srv/stamm/germany.pmtiles',
  );
  const host = { MAP_TILES_URL: 'https://tiles.example/style.json', MAP_ATTRIBUTION: '© Tiles' };
  assert.throws(
    () => readConfig({ ...host, MAP_TILES_FILE: '/srv/stamm/germany.pmtiles' }),
    /MAP_TILES_FILE cannot go with MAP_TILES_URL: choose one/,
  );
});

test('TRUST_PROXY takes addresses, networks and the names of the usual ones', () => {
  assert.deepEqual(readConfig({}).TRUST_PROXY, []);
  assert.deepEqual(
    readConfig({ TRUST_PROXY: 'loopback, 10.1.2.3,fd00::/8 ,192.168.0.0/16,::1,' }).TRUST_PROXY,
    ['loopback', '10.1.2.3', 'fd00::/8', '192.168.0.0/16', '::1'],
  );
});

test('anything else in TRUST_PROXY is named in one sentence', () => {
  for (const part of [
    'foo',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '10.0.0.0/x',
    '1.2.3',
    '::1/129',
    'fe80::1%eth0',
    '1.1.1.1/8/8',
    'Loopback',
  ]) {
    assert.throws(
      () => readConfig({ TRUST_PROXY: `loopback,${part}` }),
      (error) =>
        error instanceof ConfigError &&
        /^These settings are wrong:\n {2}TRUST_PROXY must be addresses, .*$/.test(error.message) &&
        error.message.includes(`"${part}" is not`),
      part,
    );
  }
});

test('the framework understands every TRUST_PROXY that is taken', async () => {
  for (const trusted of [
    'loopback',
    'linklocal',
    'uniquelocal',
    '10.0.0.0/1',
    '::/1',
    '::ffff:10.0.0.1',
    '::1/128',
  ]) {
    const app = Fastify({ trustProxy: readConfig({ TRUST_PROXY: trusted }).TRUST_PROXY });
    await app.ready();
    await app.close();
  }
});

test('a wrong DATABASE_URL is named by its cause, and its password stays secret', () => {
  const messageFor = (DATABASE_URL: string) => {
    try {
      readConfig({ DATABASE_URL });
    } catch (error) {
      return (error as Error).message;
    }
    return assert.fail('accepted');
  };
  assert.match(messageFor('mysql://localhost/stamm'), /must be an address that begins with postgres:/);
  const message = messageFor('postgres://stamm:a/b#c@localhost/stamm');
  assert.match(message, /percent-encode special characters of the password/);
  assert.doesNotMatch(message, /a\/b#c/);
  assert.ok(readConfig({ DATABASE_URL: 'postgres://stamm:a%2Fb%23c@localhost/stamm' }).DATABASE_URL);
});
