import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Parts, salutationOf, splitCell } from './cell-parts.ts';

function split(kind: Parts['kind'], cell: string) {
  return splitCell({ kind, paths: ['a', 'b'] }, cell);
}

test('a postcode and its town are separated', () => {
  assert.deepEqual(split('town', '26122 Oldenburg'), ['26122', 'Oldenburg']);
  assert.deepEqual(split('town', ' D-26122  Bad Zwischenahn '), ['26122', 'Bad Zwischenahn']);
  assert.deepEqual(split('town', '1010, Wien'), ['1010', 'Wien']);
  assert.deepEqual(split('town', '1016 DW Amsterdam'), ['1016 DW', 'Amsterdam']);
  assert.deepEqual(split('town', 'Oldenburg'), [undefined, 'Oldenburg']);
  assert.deepEqual(split('town', ' '), [undefined, undefined]);
});

test('a street and its number are separated', () => {
  assert.deepEqual(split('street', 'Lange Straße 5a'), ['Lange Straße', '5a']);
  assert.deepEqual(split('street', 'Straße des 17. Juni 135'), ['Straße des 17. Juni', '135']);
  assert.deepEqual(split('street', 'Hauptstr.12-14'), ['Hauptstr.', '12-14']);
  assert.deepEqual(split('street', 'Weg 3 b'), ['Weg', '3 b']);
  assert.deepEqual(split('street', 'Am Markt'), ['Am Markt', '']);
});

test('streets of Austria, Switzerland and the Netherlands, blocks and post boxes are understood', () => {
  for (const [cell, street, number] of [
    ['Am Lindenplatz 4-6', 'Am Lindenplatz', '4-6'],
    ['Am Lindenplatz 4 – 6', 'Am Lindenplatz', '4 – 6'],
    ['Straße des 17. Juni 135 a', 'Straße des 17. Juni', '135 a'],
    ['Straße des 17. Juni', 'Straße des 17. Juni', ''],
    ['Dorfstr. Nr. 5', 'Dorfstr.', '5'],
    ['C 3, 12', 'C 3', '12'],
    ['Q7, 24-26', 'Q7', '24-26'],
    ['Postfach 1234', 'Postfach 1234', ''],
    ['An der B 75', 'An der B 75', ''],
    ['c/o Hausverwaltung Lüders, Weidenallee 8b', 'c/o Hausverwaltung Lüders, Weidenallee', '8b'],
    ['Mariahilfer Straße 12/3/15', 'Mariahilfer Straße', '12/3/15'],
    ['Wiedner Hauptstraße 8-10/Stiege 2/Top 5', 'Wiedner Hauptstraße', '8-10/Stiege 2/Top 5'],
    ['Hauptplatz 5 Top 3', 'Hauptplatz', '5 Top 3'],
    ['Bahnhofstrasse 12 bis', 'Bahnhofstrasse', '12 bis'],
    ['12, rue du Lac', 'rue du Lac', '12'],
    ['12 Wharf Road', 'Wharf Road', '12'],
    ['Keizersgracht 123-II', 'Keizersgracht', '123-II'],
    ['Prinsengracht 263 hs', 'Prinsengracht', '263 hs'],
    ['Laan van Meerdervoort 70 A-1', 'Laan van Meerdervoort', '70 A-1'],
    ['Kaiserstr. 5 1/2', 'Kaiserstr.', '5 1/2'],
    ['Am Markt 3 (Hinterhaus)', 'Am Markt', '3 (Hinterhaus)'],
  ] as const)
    assert.deepEqual(split('street', cell), [street, number], cell);
});

test('a title belongs to the name that follows it', () => {
  for (const [cell, first, last] of [
    ['Frau Dr. Petersen', undefined, 'Dr. Petersen'],
    ['Herrn Prof. Dr. med. Jan Harms', 'Prof. Dr. med. Jan', 'Harms'],
    ['Dr.-Ing. Anke Petersen', 'Dr.-Ing. Anke', 'Petersen'],
    ['Fr. Meier', undefined, 'Meier'],
    ['Herr Dr. med. dent. Schulz', undefined, 'Dr. med. dent. Schulz'],
    ['Drach, Ingo', 'Ingo', 'Drach'],
    ['Herr von der Heide', undefined, 'von der Heide'],
    ['Ingrid Drews', 'Ingrid', 'Drews'],
    ['Familie Maier', undefined, 'Familie Maier'],
    ['Fam. Dr. Köhler-Brandt', undefined, 'Fam. Dr. Köhler-Brandt'],
    ['Herr und Frau Ritter', undefined, 'Herr und Frau Ritter'],
    ['z. Hd. Frau Zürcher', undefined, 'Zürcher'],
    ['Dhr. P. de Wit', 'P.', 'de Wit'],
  ] as const)
    assert.deepEqual(split('person', cell), [first, last], cell);
});

test('a salutation says how to address a person', () => {
  assert.equal(salutationOf('Frau Dr. Petersen'), 'MRS');
  assert.equal(salutationOf(' Fr.  Meier'), 'MRS');
  assert.equal(salutationOf('Herrn Jan Harms'), 'MR');
  assert.equal(salutationOf('Mrs Miller'), 'MRS');
  assert.equal(salutationOf('Mr. Miller'), 'MR');
  assert.equal(salutationOf('Dhr. P. de Wit'), 'MR');
  assert.equal(salutationOf('Eheleute Ahlers'), 'NONE');
  assert.equal(salutationOf('Friederike Frau'), undefined);
});

test('first and last names are separated', () => {
  assert.deepEqual(split('person', 'Frau Anke Petersen'), ['Anke', 'Petersen']);
  assert.deepEqual(split('person', 'Harms, Jonas'), ['Jonas', 'Harms']);
  assert.deepEqual(split('person', 'Jan Peter von der Heide'), ['Jan Peter', 'von der Heide']);
  assert.deepEqual(split('person', 'Herr Meier'), [undefined, 'Meier']);
  const lastFirst = (cell: string) =>
    splitCell({ kind: 'person', paths: ['a', 'b'], isLastFirst: true }, cell);
  assert.deepEqual(lastFirst('Petersen Anke Maria'), ['Anke Maria', 'Petersen']);
  assert.deepEqual(lastFirst('von der Heide Jan'), ['Jan', 'von der Heide']);
  assert.deepEqual(lastFirst('Dr. Öz, Bülent'), ['Dr. Bülent', 'Öz']);
  assert.deepEqual(lastFirst('Meier'), [undefined, 'Meier']);
});
