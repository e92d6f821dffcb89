// The way into the web app from the command line: the setup link of a first start, and `user` commands.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { before, describe, test } from 'node:test';
import { SoftwareAuthenticator } from '../api/sign-in/software-authenticator.ts';
import {
  assertRefused,
  checkout,
  type Environment,
  makeDataDir,
  makePreparedDataDir,
  type Prepared,
  runStamm,
  startStamm,
} from '../faults/helpers/process.ts';
import { patienceMs } from '../helpers/waiting.ts';

async function setupStatus(origin: string, token: string): Promise<number> {
  return (await fetch(`${origin}/app/setup/${token}`)).status;
}

async function signInStatus(origin: string, email: string, password: string): Promise<number> {
  const response = await fetch(`${origin}/app/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ email, password }),
  });
  return response.status;
}

/** Runs a command with something at its standard input. */
function runWithInput(words: readonly string[], env: Environment, input: string) {
  return spawnSync(process.execPath, ['server/main.ts', ...words], {
    cwd: checkout,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    input,
    encoding: 'utf8',
    timeout: patienceMs,
  });
}

test('each start without people prints a link that works once; with people there is none', async () => {
  const env = { DATA_DIR: await makeDataDir() };
  const tokenIn = (output: string) => /^ {2}http:\S+\/setup#([\w-]{43})$/m.exec(output)?.[1];
  const first = await startStamm(env);
  const firstToken = tokenIn(first.output.stderr)!;
  assert.equal(await setupStatus(first.origin, firstToken), 200);
  await first.stop();

  const second = await startStamm(env);
  const token = tokenIn(second.output.stderr)!;
  assert.equal(await setupStatus(second.origin, firstToken), 404, 'the link of the start before has ended');
  const form = { businessName: 'Grün & Gut', name: 'Anke', email: 'anke@x.example', password: 'drei Tulpen' };
  const use = () =>
    fetch(`${second.origin}/app/setup/${token}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: second.origin },
      body: JSON.stringify(form),
    });
  assert.deepEqual([(await use()).status, (await use()).status], [201, 404]);
  assert.equal(await signInStatus(second.origin, form.email, form.password), 200);
  await second.stop();

  const third = await startStamm(env);
  assert.equal(tokenIn(third.output.stderr), undefined);
  assert.ok(third.output.stderr.includes(`Sign in at ${third.origin}/`));
  await third.stop();
});

describe('beside a running service', () => {
  let prepared: Prepared;
  let env: Environment;
  let origin: string;
  before(async () => {
    prepared = await makePreparedDataDir();
    env = { DATA_DIR: prepared.dataDir };
    ({ origin } = await startStamm(env));
  });
  const words = (email: string) => [
    'user',
    'create',
    '--tenant',
    prepared.tenantId,
    '--email',
    email,
    '--name',
    'Anke Petersen',
  ];

  test('a person is made with a generated password, which is shown once, and gets a new one', async () => {
    const email = 'anke@gruen.example';
    const made = JSON.parse((await runStamm([...words(email), '--generate', '--json'], env)).stdout);
    assert.match(made.password, /^([a-z2-9]{4}-){3}[a-z2-9]{4}$/);
    assert.equal(await signInStatus(origin, email, made.password), 200);
    const ended = await runStamm(['user', 'password', '--email', email.toUpperCase(), '--generate'], env);
    const [, password] = /^Password: (\S+)$/m.exec(ended.stdout)!;
    assert.equal(await signInStatus(origin, email, made.password), 401);
    assert.equal(await signInStatus(origin, email, password!), 200);
    assertRefused(await runStamm([...words(email), '--generate'], env), /already signs in/);
  });

  test('a password can be piped in, and is never shown', async () => {
    const email = 'paul@gruen.example';
    const ended = runWithInput([...words(email), '--role', 'pflege'], env, 'vier Rosen im Garten\nmore\n');
    assert.equal(ended.status, 0, ended.stderr);
    assert.ok(!ended.stdout.includes('Rosen'));
    assert.equal(await signInStatus(origin, email, 'vier Rosen im Garten'), 200);
  });

  test('a person who lost all passkeys signs in with the password again after the command', async () => {
    const email = 'birte@gruen.example';
    const made = JSON.parse((await runStamm([...words(email), '--generate', '--json'], env)).stdout);
    const send = (path: string, body?: object, cookie?: string) =>
      fetch(`${origin}/app${path}`, {
        method: 'POST',
        headers: {
          origin: 'http://localhost',
          'sec-fetch-site': 'same-origin',
          ...(body && { 'content-type': 'application/json' }),
          ...(cookie && { cookie }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
    const credentials = { email, password: made.password };
    const signIn = async () => JSON.parse(await (await send('/session', credentials)).text());
    const [cookie] = (await send('/session', credentials)).headers.getSetCookie()[0]!.split(';');
    const options = JSON.parse(await (await send('/passkeys/options', undefined, cookie)).text());
    const credential = new SoftwareAuthenticator().create(options);
    assert.equal((await send('/passkeys', { credential }, cookie)).status, 201);
    assert.equal((await signIn()).needs, 'SECOND_FACTOR');

    const reset = await runStamm(['user', 'reset-passkeys', '--email', email, '--json'], env);
    assert.deepEqual(JSON.parse(reset.stdout), { email, passkeys: 1 });
    assert.equal((await send('/passkeys/options', undefined, cookie)).status, 401);
    assert.equal((await signIn()).person.email, email);
  });

  test('an easy password is refused here too, the names of the person and the tenant included', async () => {
    const email = 'nele@gruen.example';
    for (const easy of ['Sommer2026', 'ankepetersen1']) {
      const refused = runWithInput(words(email), env, `${easy}\n`);
      assert.equal(refused.status, 1, easy);
      assert.match(refused.stderr, /^The password: This password is easy to guess/m, easy);
    }
    const made = runWithInput(words(email), env, 'vier Rosen im Garten\n');
    assert.equal(made.status, 0, made.stderr);
    const changed = runWithInput(['user', 'password', '--email', email], env, 'passwort123\n');
    assert.match(changed.stderr, /^The password: This password is easy to guess/m);
  });

  test('the operator removes a person, which frees the address, and is asked which where there are several', async () => {
    const email = 'ceo@victim.example';
    const other = JSON.parse((await runStamm(['tenant', 'create', '--name', 'Squat', '--json'], env)).stdout);
    const inOther = words(email).map((word) => (word === prepared.tenantId ? other.tenantId : word));
    const remove = (...more: string[]) => runStamm(['user', 'remove', '--email', email, ...more], env);
    await runStamm([...words(email), '--generate'], env);
    await runStamm([...inOther, '--generate'], env);
    assertRefused(await remove('--yes'), /signs in to several tenants\. Name one:\n {2}--tenant /);
    const there = ['--tenant', prepared.tenantId];
    const shown = await remove(...there);
    assert.match(shown.stdout, /^This removes Anke Petersen of .*Add --yes to do it\.$/m);
    assertRefused(
      await runStamm(['user', 'remove', '--email', email, '--tenant', other.tenantId, '--yes'], env),
      /^This is the only person with the role "verwaltung" there\./m,
    );
    assert.match((await remove(...there, '--yes')).stdout, /is removed\. ceo@victim\.example is free\.$/m);
    assertRefused(await remove(...there, '--yes'), /^Nobody signs in with ceo@victim\.example there\./m);
    await runStamm([...words(email), '--generate'], env);
  });

  test('an impossible command says why in a sentence', async () => {
    const { tenantId } = prepared;
    const refusals: [string[], RegExp][] = [
      [words('x@y.example'), /^No password was given\./m],
      [[...words('nothing'), '--generate'], /^"nothing" is not an e-mail address\./],
      [[...words('x@y.example'), '--role', 'boss', '--generate'], /^"boss" is no role\./],
      [
        words('x@y.example')
          .map((word) =>
            word === tenantId ? tenantId.replace(/.$/, (last) => (last === '0' ? '1' : '0')) : word,
          )
          .concat('--generate'),
        /^There is no tenant /m,
      ],
      [['user', 'password', '--email', 'nobody@x.example', '--generate'], /^Nobody signs in with/m],
      [['user', 'reset-passkeys', '--email', 'nobody@x.example'], /^Nobody signs in with/m],
      [[...words('x@y.example'), '--password', 'secret'], /Unknown option '--password'/],
    ];
    for (const [refused, sentence] of refusals) assertRefused(await runStamm(refused, env), sentence);
    const short = runWithInput(words('x@y.example'), env, 'short\n');
    assert.match(short.stderr, /^The password: At least 10 characters\./m);
  });
});
