// Chooses names of towns and postcodes that fit on the map. None overlaps another or a mark, and none is cut off.
import { type City, cities } from './cities.ts';
import type { Places } from './places.ts';
import { type Position, type Size, toPixels, type View } from './view.ts';

export interface Label {
  text: string;
  kind: 'town' | 'postcode';
  /** Start of the text, and its middle line. */
  start: number;
  middle: number;
  /** Absent if a mark lies on it. */
  dot?: { left: number; top: number };
}

export interface Mark {
  left: number;
  top: number;
  radius: number;
}

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface Candidate extends Position {
  text: string;
  kind: Label['kind'];
}

const halfHeight = 9;
const edge = 3;
const gap = 4;
/** Two names of about the same place are one place. */
const samePlaceDegrees = 0.2;

const postcodesFrom = 11;

/** The zoom from which on a town is named, by the number of its postcodes. */
function townFrom(postcodes: number): number {
  if (postcodes >= 10) return 7;
  if (postcodes >= 4) return 8;
  return postcodes >= 2 ? 8.7 : 9.3;
}

export function placeLabels(
  view: View,
  size: Size,
  places: Places | undefined,
  marks: readonly Mark[],
  { language, measure }: { language: keyof City['name']; measure: (text: string) => number },
): Label[] {
  const taken: Box[] = marks.map(({ left, top, radius }) => ({
    left: left - radius,
    top: top - radius,
    right: left + radius,
    bottom: top + radius,
  }));
  const labels: Label[] = [];
  for (const candidate of candidatesIn(view, places, language)) {
    const place = toPixels(view, size, candidate);
    if (place.left < 0 || place.top < 0 || place.left > size.width || place.top > size.height) continue;
    const label = placeLabel(candidate, place, size, marks, taken, measure(candidate.text));
    if (label) labels.push(label);
  }
  return labels;
}

/** Yields the most important names first. */
function* candidatesIn(
  view: View,
  places: Places | undefined,
  language: keyof City['name'],
): Generator<Candidate> {
  for (const city of cities) {
    if (view.zoom >= city.from - 0.5)
      yield { text: city.name[language], kind: 'town', lat: city.lat, lng: city.lng };
  }
  for (const town of places?.towns ?? []) {
    if (view.zoom < townFrom(town.postcodes)) continue;
    if (!isCity(town)) yield { ...town, text: town.name, kind: 'town' };
  }
  if (view.zoom < postcodesFrom) return;
  for (const { code, ...position } of places?.postcodes ?? [])
    yield { ...position, text: code, kind: 'postcode' };
}

const cityNames = new Map(cities.map((city) => [city.name.de, city]));

function isCity({ name, lat, lng }: { name: string } & Position): boolean {
  const city = cityNames.get(name) ?? cityNames.get(name.split(/ (?:am|an|\()/)[0]!);
  return (
    city !== undefined &&
    Math.abs(city.lat - lat) < samePlaceDegrees &&
    Math.abs(city.lng - lng) < 2 * samePlaceDegrees
  );
}

function placeLabel(
  { text, kind }: Candidate,
  { left, top }: { left: number; top: number },
  size: Size,
  marks: readonly Mark[],
  taken: Box[],
  width: number,
): Label | undefined {
  const cover = marks.find((mark) => Math.hypot(mark.left - left, mark.top - top) < mark.radius + 4);
  const starts =
    kind === 'postcode'
      ? [left - width / 2]
      : cover
        ? [cover.left + cover.radius + gap, cover.left - cover.radius - gap - width]
        : [left + 7, left - 7 - width];
  for (const start of starts) {
    const hasDot = kind === 'town' && !cover;
    const box = {
      left: Math.min(start, hasDot ? left - edge : start) - 1,
      top: top - halfHeight,
      right: Math.max(start + width, hasDot ? left + edge : start) + 1,
      bottom: top + halfHeight,
    };
    const isInside =
      box.left >= edge &&
      box.right <= size.width - edge &&
      box.top >= edge &&
      box.bottom <= size.height - edge;
    if (!isInside || taken.some((other) => overlap(box, other))) continue;
    taken.push(box);
    return { text, kind, start, middle: top, ...(hasDot && { dot: { left, top } }) };
  }
  return undefined;
}

function overlap(one: Box, other: Box): boolean {
  return one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top;
}
