// Which passwords are accepted where one is set.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgePassword } from '../../../server/features/sign-in/password-strength.ts';
import { expandWords } from '../../../server/features/sign-in/telltale-words.ts';
import { callOffice, createPerson, password } from '../../helpers/office.ts';
import { startService } from '../../helpers/service.ts';

const service = await startService();

const common = [
  'passwort123',
  'password12',
  'hallo12345',
  'Sommer2026',
  '1q2w3e4r5t',
  'administrator',
  'aaaaaaaaab',
  'qwertzuiop',
];

test('common passwords are refused, and a few words are accepted', async () => {
  for (const weak of common) assert.equal(await judgePassword(weak, []), 'GUESSABLE', weak);
  for (const good of [password, 'vier Rosen im Garten', 'correct horse battery staple', 'kx7-Ahorn-42q'])
    assert.equal(await judgePassword(good, []), 'STRONG', good);
});

test("names of the business and the person, and the address, count as one's first guess", async () => {
  const words = ['Ranunkel & Weiß GmbH', 'Ottilie Brömmelkamp', 'o.broemmelkamp@ranunkel.example'];
  const telltale = [
    'ranunkelundweiss2026',
    'Ranunkel&Weiß1',
    'OttilieBrömmelkamp1',
    'broemmelkamp!',
    'ranunkelweiss1',
  ];
  for (const weak of telltale) {
    assert.equal(await judgePassword(weak, words), 'GUESSABLE', weak);
    assert.equal(await judgePassword(weak, []), 'STRONG', `${weak} for somebody else`);
  }
  assert.ok(expandWords(['a '.repeat(100_000)]).length <= 100, 'a long name costs no more than a short one');
});

test('the same rule holds wherever a password is set', async () => {
  const person = await createPerson(service);
  const invited = await person.call('POST', '/invitations', { email: 'nele@gruen.example', role: 'PFLEGE' });
  const invitation = invited.json().link.split('#')[1];
  const colleague = await createPerson(service);
  const reset = (await person.call('POST', `/people/${colleague.id}/reset-link`)).json().link.split('#')[1];
  for (const weak of ['Sommer2026', 'GrünundGut2026']) {
    const answers = {
      invitation: await callOffice(service.app, 'POST', `/invitation/${invitation}`, {
        name: 'Nele',
        password: weak,
      }),
      reset: await callOffice(service.app, 'POST', `/reset/${reset}`, { password: weak }),
      own: await person.call('POST', '/password', { currentPassword: password, newPassword: weak }),
    };
    for (const [where, answer] of Object.entries(answers)) {
      assert.equal(answer.statusCode, 400, `${where} ${weak}`);
      assert.equal(answer.json().errors[0].code, 'too_easy', `${where} ${weak}`);
    }
  }
});

test('a password of 200 characters can be set and typed, with any characters', async () => {
  const person = await createPerson(service);
  const emoji = Array.from({ length: 200 }, (_, index) =>
    String.fromCodePoint(0x1f330 + ((index * 37) % 200)),
  );
  const longest = emoji.join('');
  const change = (newPassword: string) =>
    person.call('POST', '/password', { currentPassword: password, newPassword });
  assert.equal((await change(`${longest}x`)).json().errors[0].code, 'too_long');
  assert.equal((await change(longest)).statusCode, 204);
  const typed = await callOffice(service.app, 'POST', '/session', { email: person.email, password: longest });
  assert.equal(typed.statusCode, 200, typed.body);
});

test('a long hostile password is answered, and other requests are served meanwhile', async () => {
  const hostile = ['p4$$w0rd1!'.repeat(20), '01.01.2020'.repeat(20), '@4$1!|0('.repeat(25)];
  const checks = hostile.map((text) => judgePassword(text, []));
  let isChecked = false;
  const all = Promise.all(checks).then(() => {
    isChecked = true;
  });
  assert.equal((await callOffice(service.app, 'GET', '/state')).statusCode, 200);
  assert.equal(isChecked, false, 'the thread still works');
  await all;
});

const slowToJudge = '1l|!i'.repeat(20);

test('a check that takes too long ends with a rejection, and the next one is judged', async () => {
  assert.equal(await judgePassword(slowToJudge, [], 1), 'UNKNOWN');
  assert.equal(await judgePassword(password, []), 'STRONG');
});

test("checks of one person take few places, and another person's password is set meanwhile", async () => {
  const person = await createPerson(service);
  const invite = async (email: string) => {
    const invited = await person.call('POST', '/invitations', { email, role: 'PFLEGE' });
    return invited.json().link.split('#')[1] as string;
  };
  const [busy, other] = [await invite('busy@gruen.example'), await invite('other@gruen.example')];
  const accept = (token: string, typed: string) =>
    callOffice(service.app, 'POST', `/invitation/${token}`, { name: 'Nele', password: typed });
  const flood = Array.from({ length: 20 }, () => accept(busy, slowToJudge));
  // The first refusal shows that the places of the one link are taken.
  await Promise.any(flood.map(async (answer) => assert.equal((await answer).statusCode, 429)));
  assert.equal((await accept(other, password)).statusCode, 201);
  await Promise.all(flood);
});
