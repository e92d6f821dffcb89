import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapsLink } from './day-visits.ts';

test('the link opens the maps of each kind of device, and holds the address only', () => {
  const address = 'Große Straße 1 & 2?, 20095 Hamburg';
  const query = 'Gro%C3%9Fe%20Stra%C3%9Fe%201%20%26%202%3F%2C%2020095%20Hamburg';
  assert.equal(
    mapsLink(address, 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0)'),
    `https://maps.apple.com/?q=${query}`,
  );
  assert.equal(mapsLink(address, 'Mozilla/5.0 (Linux; Android 16)'), `geo:0,0?q=${query}`);
  assert.equal(
    mapsLink(address, 'Mozilla/5.0 (X11; Linux)'),
    `https://www.openstreetmap.org/search?query=${query}`,
  );
});
