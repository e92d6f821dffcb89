import assert from 'node:assert/strict';
import { test } from 'node:test';
import i18next from 'i18next';
import { describeDefinition } from '../../server/engine/definition/description.ts';
import { apiErrorCodes, fieldErrorCodes } from '../../server/errors.ts';
import { text } from '../../server/messages.ts';
import { resources } from '../../server/resources/index.ts';
import { ApiError } from '../../web/src/api/client.ts';
import { type Field, leavesOf } from '../../web/src/api/definitions.ts';
import { fieldErrorText } from '../../web/src/inputs/field-error-text.ts';
import { de } from '../../web/src/texts/de.ts';
import { en } from '../../web/src/texts/en.ts';

await i18next.init({
  lng: 'de',
  resources: { de: { translation: de }, en: { translation: en } },
  interpolation: { escapeValue: false },
});

/** Names of fields and headers, formats of the wire, and values that are missing. */
const technical =
  /\b[a-z]+[A-Z]|[A-Z]{2,}_|JJJJ|YYYY|UUID|ISO|IANA|UN\/ECE|JSON|UTF|"(field|id|errors)"|Retry-After|If-Match|Idempotency|Content-Type|requestId|\{|undefined|…/;

const paramsOf = (field: Field, other: string) => ({
  type: field.kind,
  max: 5,
  min: 1,
  other,
  fields: [other, field.path],
  choices: ['NEEDS_ATTENTION'],
  resource: 'contact-person',
  known: ['externalId'],
});

const definitions = resources.map(describeDefinition);

for (const language of ['de', 'en'] as const) {
  test(`every field error speaks the words of the page (${language})`, async () => {
    await i18next.changeLanguage(language);
    let texts = 0;
    for (const definition of definitions) {
      const leaves = leavesOf(definition.fields);
      for (const field of leaves) {
        for (const code of fieldErrorCodes) {
          const params = paramsOf(field, leaves[0]!.path);
          const message = text(code, language, params);
          const shown = fieldErrorText(field, { code, message, params }, definition);
          assert.doesNotMatch(shown, technical, `${definition.name} ${field.path} ${code}`);
          assert.ok(shown.split(' ').length <= 40 && shown.length > 3);
          texts += 1;
        }
      }
    }
    assert.ok(texts > 1000);
  });

  test(`no failure of the office names headers or members of a body (${language})`, async () => {
    await i18next.changeLanguage(language);
    // An office has a session and no key.
    for (const { code, status } of apiErrorCodes.filter(({ code }) => !code.startsWith('key_'))) {
      const { message } = new ApiError(status, { code, message: text(code, language) });
      assert.doesNotMatch(
        message,
        /"(?!(Verwaltung|Office)")|Retry-After|Idempotency|requestId|If-Match|Header|HTTP/i,
        code,
      );
    }
  });
}

test('limits, days and other fields are written as the page writes them', async () => {
  await i18next.changeLanguage('de');
  const site = definitions.find(({ name }) => name === 'site')!;
  const at = (path: string) => leavesOf(site.fields).find((field) => field.path === path)!;
  const shown = (path: string, code: string, params = {}) =>
    fieldErrorText(at(path), { code, message: '', params }, site);
  assert.equal(
    shown('validUntil', 'date_order', { other: 'validFrom' }),
    'Darf nicht vor „Gültig ab“ liegen.',
  );
  assert.equal(shown('validUntil', 'invalid_date'), 'Bitte einen gültigen Tag eingeben, etwa 31.12.2026.');
  assert.equal(shown('callOutFee', 'too_large', { max: 1234.5 }), 'Höchstens 1.234,5.');
  assert.equal(shown('customerId', 'required'), 'Bitte auswählen.');
});
