import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashPassword, verifyPassword } from './passwords.ts';

test('a stored password costs what OWASP recommends at least', async () => {
  const hash = await hashPassword('drei Tulpen am Fenster');
  assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.ok(await verifyPassword('drei Tulpen am Fenster', hash));
  assert.ok(!(await verifyPassword('drei Tulpen am Fensten', hash)));
});
