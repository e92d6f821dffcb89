import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listPostcodes, listTowns } from '../../../core/place/postcodes.ts';
import { placeLabels } from './labels.ts';
import { toWorld } from './view.ts';

const size = { width: 390, height: 500 };
const places = { towns: listTowns(), postcodes: listPostcodes() };
/** About the width of the map's letters. */
const measure = (text: string) => text.length * 6.5;

function labelsAt(zoom: number, marks: Parameters<typeof placeLabels>[3] = []) {
  return placeLabels({ ...toWorld({ lat: 53.55, lng: 9.99 }), zoom }, size, places, marks, {
    language: 'de',
    measure,
  });
}

describe('names on the map', () => {
  for (const zoom of [4, 5, 7, 9, 10.5, 12, 14]) {
    test(`neither overlap nor are cut off at zoom ${zoom}`, () => {
      const mark = { left: 200, top: 250, radius: 20 };
      const labels = labelsAt(zoom, [mark]);
      assert.ok(labels.length > 1);
      const boxes = labels.map(({ text, start, middle }) => ({
        text,
        left: start,
        right: start + measure(text),
        top: middle - 7,
        bottom: middle + 7,
      }));
      for (const [index, box] of boxes.entries()) {
        assert.ok(
          box.left >= 0 && box.right <= size.width && box.top >= 0 && box.bottom <= size.height,
          box.text,
        );
        const others = [
          ...boxes.slice(index + 1),
          { text: 'mark', left: 180, right: 220, top: 230, bottom: 270 },
        ];
        for (const other of others) {
          const isApart =
            box.right <= other.left ||
            other.right <= box.left ||
            box.bottom <= other.top ||
            other.bottom <= box.top;
          assert.ok(isApart, `${box.text} overlaps ${other.text}`);
        }
      }
    });
  }

  test('are large cities from far away, and postcodes from near', () => {
    assert.ok(labelsAt(5).some(({ text }) => text === 'Hamburg'));
    assert.ok(labelsAt(5).every(({ kind }) => kind === 'town'));
    const near = labelsAt(12.5);
    assert.ok(near.some(({ text, kind }) => kind === 'postcode' && text === '20354'));
    assert.equal(near.filter(({ text }) => text === 'Hamburg').length, 1, 'no town is named twice');
  });
});
