// The files beside the release that an operator takes as they are: container, Compose, Kubernetes, systemd, HAProxy.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readConfig } from '../../server/config.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (name: string) => readFile(path.join(root, name), 'utf8');

describe('the container', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'stamm-container-'));
    const makeRelease = async (version: string, platform: string) => {
      const name = `stamm-${version}-${platform}`;
      await mkdir(path.join(folder, name));
      await writeFile(path.join(folder, name, 'name'), name);
      execFileSync('tar', ['-czf', `${name}.tar.gz`, name], { cwd: folder });
    };
    for (const version of ['0.9.0', '0.10.0'])
      for (const platform of ['linux-x64', 'linux-arm64']) await makeRelease(version, platform);
  });
  after(() => rm(folder, { recursive: true }));

  /** Runs the step of the Containerfile that unpacks a release, here instead of in an image. */
  async function unpack(version: string, machine: string): Promise<string> {
    const [, step] = /^RUN (platform=(?:.*\\\n)*.*)$/m.exec(await read('Containerfile'))!;
    const target = await mkdtemp(path.join(folder, 'opt-'));
    const script = step!
      .replaceAll('/tmp/', `${folder}/`)
      .replaceAll('/opt/stamm', target)
      .replace('mkdir ', 'mkdir -p ')
      .replace('uname -m', `echo ${machine}`);
    execFileSync('sh', ['-ec', script], { env: { ...process.env, VERSION: version } });
    return readFile(path.join(target, 'name'), 'utf8');
  }

  test('takes the newest release of its platform, or the one that is named', async () => {
    assert.equal(await unpack('*', 'x86_64'), 'stamm-0.10.0-linux-x64');
    assert.equal(await unpack('*', 'aarch64'), 'stamm-0.10.0-linux-arm64');
    assert.equal(await unpack('0.9.0', 'aarch64'), 'stamm-0.9.0-linux-arm64');
  });

  test('has the account that Kubernetes runs', async () => {
    const [, user] = /--uid (\d+)/.exec(await read('Containerfile'))!;
    const [, group] = /--gid (\d+)/.exec(await read('Containerfile'))!;
    const named = [
      ...(await read('packaging/kubernetes.yaml')).matchAll(/(runAsUser|runAsGroup|fsGroup): (\d+)/g),
    ];
    assert.ok(named.length >= 6);
    for (const [place, name, id] of named) assert.equal(id, name === 'runAsUser' ? user : group, place);
  });
});

test('Compose and Kubernetes keep backups on a volume of their own', async () => {
  const compose = await read('compose.yaml');
  assert.match(compose, /^ {6}BACKUP_DIR: \/backups$/m);
  assert.match(compose, /^ {4}volumes: \["backups:\/backups"\]$/m);
  assert.match(compose, /^volumes:\n {2}backups:$/m);
  const parts = (await read('packaging/kubernetes.yaml')).split(/^---$/m);
  const job = parts.find((part) => /^kind: CronJob$/m.test(part))!;
  assert.match(job, /args: \[backup\]/);
  assert.match(job, /\{ name: BACKUP_DIR, value: \/backups \}/);
  assert.match(job, /\{ name: backups, mountPath: \/backups \}/);
  const [, claim] = /claimName: (\S+) /.exec(job)!;
  assert.ok(
    parts.some((part) => part.includes('kind: PersistentVolumeClaim') && part.includes(`name: ${claim}\n`)),
  );
});

test('the drain is longer than the shipped proxy takes to mark a node down', async () => {
  const [, stamm] = (await read('packaging/haproxy.cfg')).split(/^listen stamm$/m);
  const [, seconds, checks] = /default-server inter (\d+)s fall (\d+)/.exec(stamm!)!;
  const { DRAIN_SECONDS } = readConfig({ DATABASE_URL: 'postgres://stamm@127.0.0.1/stamm' });
  assert.ok(DRAIN_SECONDS > 2 * Number(seconds) * Number(checks));
});

test('a system call that systemd filters fails instead of ending the service', async () => {
  const unit = await read('packaging/stamm.service');
  assert.match(unit, /^SystemCallFilter=/m);
  assert.match(unit, /^SystemCallErrorNumber=EPERM$/m);
});
