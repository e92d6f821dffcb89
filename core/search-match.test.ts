import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countSteps } from './pace.ts';
import { findMatch, type SearchedText } from './search-match.ts';

const foyer: SearchedText[] = [
  { field: 'name', text: 'Foyer', kind: 'name' },
  { field: 'address.streetName', text: 'Überseering', kind: 'word' },
  { field: 'address.zipCode', text: '20251', kind: 'word' },
  { field: 'phone', text: '+49 (0)40 5566-77', kind: 'phone' },
  { field: 'externalId', text: 'ST-10019-3', kind: 'code' },
  { field: 'customerId', text: 'Möbelhaus Brügge', kind: 'through' },
];

const fieldsOf = (q: string) => findMatch(q, foyer).matched.map(({ field }) => field);

test('the fields that matched are named, each once', () => {
  assert.deepEqual(fieldsOf('foyer moebelhaus'), ['name', 'customerId']);
  assert.deepEqual(fieldsOf('möbelhaus bruegge'), ['customerId']);
  assert.deepEqual(fieldsOf('ueberseering 202'), ['address.streetName', 'address.zipCode']);
  assert.deepEqual(fieldsOf('ST-10019'), ['externalId']);
  assert.deepEqual(fieldsOf('st100193'), ['externalId']);
  assert.deepEqual(fieldsOf('040 556677'), ['phone']);
  assert.deepEqual(fieldsOf('0049 40 55'), ['phone']);
});

test('a number or mail address is explained by a text that has all of it', () => {
  const hotel: SearchedText[] = [
    { field: 'companyName', text: 'Hotel Kranz', kind: 'name' },
    { field: 'email', text: 'info@hotel-kranz.de', kind: 'word' },
  ];
  const fieldsOfHotel = (q: string) => findMatch(q, hotel).matched.map(({ field }) => field);
  assert.deepEqual(fieldsOfHotel('info@hotel-kranz.de'), ['email']);
  assert.deepEqual(fieldsOfHotel('hotel-kranz'), ['companyName']);
  assert.deepEqual(fieldsOfHotel('K-10001'), []);
});

test('typing errors are explained, numbers are not guessed', () => {
  assert.deepEqual(fieldsOf('ubersering'), ['address.streetName']);
  assert.deepEqual(fieldsOf('mobelhuas'), ['customerId']);
  assert.deepEqual(fieldsOf('20252'), []);
});

test('the whole text comes before its beginning, and the name before others', () => {
  const score = (q: string, text: string, kind: SearchedText['kind']) =>
    findMatch(q, [{ field: 'x', text, kind }]).score;
  assert.ok(score('hotel', 'Hotel', 'name') > score('hotel', 'Hotel Alster', 'name'));
  assert.ok(score('hotel', 'Hotel Alster', 'name') > score('hotel', 'Hoteliers', 'name'));
  assert.ok(score('hotel', 'Hotel Alster', 'name') > score('hotel', 'Hotelstraße', 'word'));
  assert.ok(score('hotel', 'Hotelstraße', 'word') > score('hotel', 'Hotel Alster', 'through'));
});

test('signs and endless texts match nothing and end', () => {
  assert.deepEqual(findMatch('%%% ___', foyer), { score: 0, matched: [] });
  assert.equal(findMatch('x'.repeat(200), foyer).score, 0);
});

test('nothing to look in is no match', () => {
  assert.deepEqual(findMatch('hotel', []), { score: 0, matched: [] });
});

test('of many words the eight longest are ranked', () => {
  const words = ['Elf', 'Acht', 'Fünf1', 'Sechs1', 'Sieben1', 'Zwanzig1', 'Achtzehn1', 'Dreizehn12'];
  const texts = [...words, 'Ei'].map((text): SearchedText => ({ field: text, text, kind: 'word' }));
  const found = findMatch(['Ei', ...words].join(' '), texts);
  assert.deepEqual(
    found.matched.map(({ field }) => field),
    words,
  );
});

test('the steps of a match grow with words times texts and no further', () => {
  const stepsOf = (words: number, texts: number) => {
    const before = countSteps();
    const q = Array.from({ length: words }, (_, place) => `w${place}`).join(' ');
    const text = 'ab cd ef gh '.repeat(16);
    findMatch(
      q,
      Array.from({ length: texts }, (): SearchedText => ({ field: 'x', text, kind: 'word' })),
    );
    return countSteps() - before;
  };
  const single = stepsOf(1, 10);
  assert.ok(stepsOf(8, 10) <= 8 * single);
  assert.ok(stepsOf(8, 80) <= 8 * stepsOf(8, 10));
  assert.equal(stepsOf(60, 80), stepsOf(8, 80));
});
