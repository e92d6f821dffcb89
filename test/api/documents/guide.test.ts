// What the guide lists is what the service has.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { referencesOf } from '../../../server/engine/definition/definition.ts';
import { allSentences } from '../../../server/messages.ts';
import { resources } from '../../../server/resources/index.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string) => readFile(path.join(root, file), 'utf8');
const document = JSON.parse(await read('generated/openapi.json'));

async function demandNames(page: string, names: readonly string[]): Promise<void> {
  const text = await read(`docs/guide/${page}`);
  const named = new Set(text.match(/\/?[\w/-]+/g));
  assert.deepEqual(
    names.filter((name) => !named.has(name)),
    [],
    page,
  );
}

test('the page of calls names the path of every creation', () =>
  demandNames(
    'calls.md',
    resources.map((resource) => resource.path),
  ));

test('the page about own ids names every reference that takes one', () =>
  demandNames('own-ids.md', [
    ...new Set(resources.flatMap((one) => referencesOf(one).map(({ externalName }) => externalName))),
  ]));

test('the page about visits names every status, reason and conflict', () => {
  const { status, conflicts } = document.components.schemas.Visit.properties;
  return demandNames('visits.md', [...status.enum, ...conflicts.items.enum]);
});

test('every error message in the guide and the README is one that the service sends', async () => {
  const pages = (await readdir(path.join(root, 'docs/guide'))).filter((name) => name.endsWith('.md'));
  const sentences = allSentences().map(
    (sentence) => new RegExp(`^${RegExp.escape(sentence).replaceAll(/\\\{\w+\\\}/g, '.+')}$`),
  );
  let count = 0;
  for (const file of ['README.md', ...pages.map((page) => `docs/guide/${page}`)])
    for (const [, json] of (await read(file)).matchAll(/"message":\s*("(?:[^"\\]|\\.)*")/g)) {
      const message = JSON.parse(json!);
      if (message === '…') continue;
      count += 1;
      assert.ok(
        sentences.some((sentence) => sentence.test(message)),
        `${file}: ${message}`,
      );
    }
  assert.ok(count > 5);
});
