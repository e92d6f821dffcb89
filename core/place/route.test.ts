import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { distanceInKm, orderByNearest, type Position } from './route.ts';

const hamburg = { lat: 53.5503, lng: 9.9928 };
const berlin = { lat: 52.52, lng: 13.405 };

test('Hamburg and Berlin are 255 km apart, in both directions', () => {
  assert.ok(Math.abs(distanceInKm(hamburg, berlin) - 255) < 2);
  assert.equal(distanceInKm(hamburg, berlin), distanceInKm(berlin, hamburg));
  assert.equal(distanceInKm(berlin, berlin), 0);
});

test('the nearest stop comes next, from the start on', () => {
  const stops = [12, 10, 11].map((lng) => ({ lat: 53, lng }));
  const order = (start?: Position) => orderByNearest(stops, (stop) => stop, start).map(({ lng }) => lng);
  assert.deepEqual(order({ lat: 53, lng: 9 }), [10, 11, 12]);
  assert.deepEqual(order({ lat: 53, lng: 13 }), [12, 11, 10]);
  assert.deepEqual(order(), [12, 11, 10]);
});

test('every stop is driven to once, and those without a position come last in their order', () => {
  const position = fc.record({
    lat: fc.double({ min: -90, max: 90, noNaN: true }),
    lng: fc.double({ min: -180, max: 180, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(fc.option(position, { nil: undefined }), { maxLength: 30 }), (positions) => {
      const stops = positions.map((place, index) => ({ index, place }));
      const ordered = orderByNearest(stops, ({ place }) => place);
      assert.deepEqual(
        ordered.map(({ index }) => index).sort((one, other) => one - other),
        stops.map(({ index }) => index),
      );
      const isPlaced = ordered.map(({ place }) => place !== undefined);
      assert.ok(!isPlaced.join().includes('false,true'));
    }),
  );
});
