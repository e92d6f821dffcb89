import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cityNamed, nearestCity } from './cities.ts';
import {
  boundsOf,
  fitView,
  fromPixels,
  germany,
  maxZoom,
  moveView,
  scaleOf,
  toPixels,
  toPosition,
  toWorld,
  zoomView,
} from './view.ts';

const size = { width: 800, height: 600 };
const hamburg = { lat: 53.55, lng: 9.99 };

describe('the view of the map', () => {
  test('leads from positions to pixels and back', () => {
    const { left, top } = toPixels(germany, size, hamburg);
    const back = fromPixels(germany, size, left, top);
    assert.ok(Math.abs(back.lat - hamburg.lat) < 1e-9 && Math.abs(back.lng - hamburg.lng) < 1e-9);
    assert.deepEqual(toWorld({ lat: 0, lng: 0 }), { x: 0.5, y: 0.5 });
    assert.ok(Math.abs(toPosition(toWorld({ lat: -33.9, lng: 151.2 })).lat + 33.9) < 1e-9);
  });

  test('keeps the place under the pointer while it zooms', () => {
    const before = fromPixels(germany, size, 123, 456);
    const after = fromPixels(zoomView(germany, size, 2.5, 123, 456), size, 123, 456);
    assert.ok(Math.abs(before.lat - after.lat) < 1e-9 && Math.abs(before.lng - after.lng) < 1e-9);
    assert.equal(zoomView(germany, size, 99).zoom, maxZoom);
  });

  test('never leaves the world, and asks for no degrees that there are not', () => {
    const edge = moveView({ ...germany, zoom: 1 }, -1e6, -1e6);
    assert.deepEqual([edge.x, edge.y], [0, 0]);
    const { west, south, east, north } = boundsOf(edge, size);
    assert.ok(west === -180 && east <= 180 && south >= -90 && north <= 90);
  });

  test('holds all positions that it is to show', () => {
    const positions = [hamburg, { lat: 48.14, lng: 11.58 }, { lat: 52.52, lng: 13.4 }];
    const view = fitView(positions, size);
    for (const position of positions) {
      const { left, top } = toPixels(view, size, position);
      assert.ok(left >= 60 && left <= 740 && top >= 60 && top <= 540);
    }
    assert.equal(fitView([hamburg], size).zoom, 11);
  });

  test('has a scale of round distances that fits', () => {
    const { metres, pixels } = scaleOf(germany, 110);
    assert.match(String(metres), /^[125]0*$/);
    assert.ok(pixels <= 110 && pixels > 40);
  });

  test('names the city that something is near, and none in the wilderness', () => {
    assert.equal(nearestCity({ lat: 53.56, lng: 10.0 })?.name.de, 'Hamburg');
    assert.equal(nearestCity({ lat: 0, lng: 0 }), undefined);
    assert.equal(cityNamed(' münchen ')?.name.en, 'Munich');
  });
});
