import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findApproximatePosition, listTowns } from './postcodes.ts';

/** Degrees of about ten kilometres. */
const close = 0.15;

function assertNear(zipCode: string, city: string, lat: number, lng: number): void {
  const found = findApproximatePosition({ zipCode, city });
  assert.ok(found, `${zipCode} ${city} has no position`);
  assert.ok(
    Math.abs(found.lat - lat) < close && Math.abs(found.lng - lng) < close,
    `${zipCode} ${city} lies at ${found.lat}, ${found.lng}`,
  );
}

describe('the approximate position of an address', () => {
  test('is the middle of its German postcode', () => {
    assertNear('20095', 'Hamburg', 53.551, 10.001);
    assertNear('80331', 'München', 48.135, 11.571);
    assertNear('01067', 'Dresden', 51.056, 13.723);
    assertNear(' D-82467 ', 'Garmisch', 47.492, 11.096);
    assert.equal(findApproximatePosition({ zipCode: '20095', city: 'HH' })?.source, 'postcode');
  });

  test('tells Austria from Switzerland by the town or a prefix', () => {
    assertNear('1010', 'Wien', 48.208, 16.371);
    assertNear('8010', 'Graz', 47.07, 15.44);
    assertNear('8001', 'Zürich', 47.372, 8.542);
    assertNear('CH-8001', 'Zurigo', 47.372, 8.542);
    assertNear('A 1010', 'Vienna', 48.208, 16.371);
    assertNear('9490', 'Vaduz', 47.143, 9.526);
  });

  test('is the middle of the town where the postcode is not known', () => {
    assertNear('99999', 'Hamburg', 53.56, 10.0);
    assertNear('', 'muenchen', 48.14, 11.57);
    assert.equal(findApproximatePosition({ zipCode: '2O095', city: 'Hamburg' })?.source, 'town');
  });

  test('is unknown where it would be a guess', () => {
    assert.equal(findApproximatePosition({ zipCode: '', city: 'Neustadt' }), undefined);
    assert.equal(findApproximatePosition({ zipCode: '00000', city: 'Nirgendwo' }), undefined);
    assert.equal(findApproximatePosition({ zipCode: 'SW1A 1AA', city: 'London' }), undefined);
    assert.equal(findApproximatePosition({ zipCode: '1'.repeat(100_000), city: ' '.repeat(10) }), undefined);
  });

  test('lies in Germany, Austria, Switzerland or Liechtenstein for every town', () => {
    const towns = listTowns();
    assert.ok(towns.length > 9000);
    for (const { name, lat, lng } of towns) {
      assert.ok(lat > 45.7 && lat < 55.1 && lng > 5.8 && lng < 17.2, `${name} ${lat} ${lng}`);
    }
    assert.equal(towns[0]?.name, 'Berlin');
  });
});
