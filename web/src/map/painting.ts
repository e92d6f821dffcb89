// Draws the map: countries, waters, names of towns, the sites, and the route of a day.

import type { MapCluster } from '../../../core/place/map-cluster.ts';
import { currentLanguage } from '../texts/language.ts';
import { type Label, type Mark, placeLabels } from './labels.ts';
import { type Outline, origin, type Shape } from './outline.ts';
import type { Places } from './places.ts';
import { type Position, type Size, toPixels, type View, worldPixels } from './view.ts';

export interface Picture {
  /** Undefined where tiles lie beneath. */
  outlines?: { outline: Outline | undefined; places: Places | undefined };
  clusters: readonly MapCluster[];
  /** Names the style sheet's colour of each employee. */
  colourNames?: ReadonlyMap<string, string>;
  /** The cluster under the pointer. */
  active?: MapCluster;
  /** A position that is being chosen. */
  marker?: Position;
  /** Stops of a day in their order. */
  route?: readonly Position[];
}

type Colours = Record<'water' | 'land' | 'border' | 'label' | 'halo' | 'leaf' | 'active' | 'ink', string> & {
  /** By employee. */
  people: ReadonlyMap<string, string>;
};

/** The theme's colours, as the style sheet has them for the map. */
function readColours(canvas: HTMLCanvasElement, colourNames: ReadonlyMap<string, string>): Colours {
  const style = getComputedStyle(canvas);
  const read = (name: string) => style.getPropertyValue(`--map-${name}`).trim();
  return {
    water: read('water'),
    land: read('land'),
    border: read('border'),
    label: read('label'),
    halo: read('halo'),
    leaf: read('leaf'),
    active: read('active'),
    ink: read('ink'),
    people: new Map([...colourNames].map(([id, name]) => [id, style.getPropertyValue(name).trim()] as const)),
  };
}

export function paintMap(canvas: HTMLCanvasElement, view: View, size: Size, picture: Picture): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const density = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(size.width * density), Math.round(size.height * density)];
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const colours = readColours(canvas, picture.colourNames ?? new Map());
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  if (picture.outlines) {
    context.fillStyle = colours.water;
    context.fillRect(0, 0, size.width, size.height);
    if (picture.outlines.outline)
      paintOutline(context, view, size, picture.outlines.outline, colours, density);
    context.setTransform(density, 0, 0, density, 0, 0);
    fadeCoast(context, view, size, colours);
    context.font = labelFont;
    const labels = placeLabels(view, size, picture.outlines.places, marksOf(picture, view, size), {
      language: currentLanguage(),
      measure: (text) => context.measureText(text).width,
    });
    paintLabels(context, labels, colours);
  }
  if (picture.route) paintLine(context, view, size, picture.route, colours);
  for (const cluster of picture.clusters.toReversed()) {
    paintCluster(context, view, size, cluster, cluster === picture.active, colours);
  }
  picture.route?.forEach((stop, index) => {
    paintStop(context, toPixels(view, size, stop), String(index + 1), colours);
  });
  if (picture.marker) paintMarker(context, toPixels(view, size, picture.marker), colours);
}

const labelFont = "500 12px 'Inter Variable', sans-serif";

function marksOf({ clusters, route = [] }: Picture, view: View, size: Size): Mark[] {
  return [
    ...clusters.map((cluster) => ({ ...toPixels(view, size, cluster), radius: radiusOf(cluster) })),
    ...route.map((stop) => ({ ...toPixels(view, size, stop), radius: stopRadius })),
  ];
}

/** The outlines are right to about a kilometre. Closer, a coast would be a torn line in the wrong place. */
const coastUntil = { fades: 8.6, gone: 9.8 };

function fadeCoast(context: CanvasRenderingContext2D, { zoom }: View, size: Size, colours: Colours): void {
  const share = (zoom - coastUntil.fades) / (coastUntil.gone - coastUntil.fades);
  if (share <= 0) return;
  context.globalAlpha = Math.min(share, 1);
  context.fillStyle = colours.land;
  context.fillRect(0, 0, size.width, size.height);
  context.globalAlpha = 1;
}

function paintOutline(
  context: CanvasRenderingContext2D,
  view: View,
  size: Size,
  { countries, lakes, rivers }: Outline,
  colours: Colours,
  density: number,
): void {
  const scale = worldPixels(view.zoom);
  const [x, y] = [view.x - origin.x, view.y - origin.y];
  const [halfWidth, halfHeight] = [size.width / 2 / scale, size.height / 2 / scale];
  context.setTransform(
    density * scale,
    0,
    0,
    density * scale,
    density * (size.width / 2 - x * scale),
    density * (size.height / 2 - y * scale),
  );
  context.fillStyle = colours.land;
  context.strokeStyle = colours.border;
  context.lineWidth = 1 / scale;
  context.lineJoin = 'round';
  const isSeen = ({ left, top, right, bottom }: Shape) =>
    right > x - halfWidth && left < x + halfWidth && bottom > y - halfHeight && top < y + halfHeight;
  /** Skip shapes smaller than a pixel. */
  const isDrawn = (shape: Shape) =>
    isSeen(shape) && Math.max(shape.right - shape.left, shape.bottom - shape.top) * scale >= 1;
  for (const { path } of countries.filter(isDrawn)) {
    context.fill(path, 'evenodd');
    context.stroke(path);
  }
  context.fillStyle = colours.water;
  context.strokeStyle = colours.water;
  context.lineWidth = Math.min(Math.max(view.zoom - 4, 0.75), 3) / scale;
  for (const { path } of lakes.filter(isDrawn)) context.fill(path, 'evenodd');
  for (const { path } of rivers.filter(isDrawn)) context.stroke(path);
}

function paintLabels(context: CanvasRenderingContext2D, labels: readonly Label[], colours: Colours): void {
  context.textBaseline = 'middle';
  context.lineWidth = 3;
  context.lineJoin = 'round';
  context.fillStyle = colours.label;
  context.strokeStyle = colours.halo;
  for (const { text, kind, start, middle, dot } of labels) {
    if (dot) {
      context.beginPath();
      context.arc(dot.left, dot.top, 2, 0, 2 * Math.PI);
      context.fill();
    }
    context.font = labelFont;
    context.globalAlpha = kind === 'postcode' ? 0.7 : 1;
    context.strokeText(text, start, middle);
    context.fillText(text, start, middle);
  }
  context.globalAlpha = 1;
}

/** The area of a mark grows with the number of its sites. */
export function radiusOf({ count }: MapCluster): number {
  return count === 1 ? 7 : Math.min(11 + Math.log2(count) * 1.7, 26);
}

function paintCluster(
  context: CanvasRenderingContext2D,
  view: View,
  size: Size,
  cluster: MapCluster,
  isActive: boolean,
  colours: Colours,
): void {
  const { left, top } = toPixels(view, size, cluster);
  const radius = radiusOf(cluster) + (isActive ? 2 : 0);
  if (left < -radius || top < -radius || left > size.width + radius || top > size.height + radius) return;
  context.beginPath();
  context.arc(left, top, radius, 0, 2 * Math.PI);
  const own = cluster.employeeId === undefined ? undefined : colours.people.get(cluster.employeeId);
  const colour = isActive ? colours.active : (own ?? colours.leaf);
  const isApproximate = cluster.approximate === cluster.count;
  context.fillStyle = isApproximate ? colours.halo : colour;
  context.fill();
  context.lineWidth = 2;
  context.strokeStyle = isApproximate ? colour : colours.halo;
  if (isApproximate) context.setLineDash([4, 3]);
  context.stroke();
  context.setLineDash([]);
  if (cluster.count === 1) return;
  paintNumber(context, { left, top }, shortCount(cluster.count), isApproximate ? colour : colours.ink);
}

const stopRadius = 12;

function paintLine(
  context: CanvasRenderingContext2D,
  view: View,
  size: Size,
  route: readonly Position[],
  colours: Colours,
): void {
  context.beginPath();
  for (const stop of route) {
    const { left, top } = toPixels(view, size, stop);
    context.lineTo(left, top);
  }
  context.lineJoin = 'round';
  context.lineWidth = 6;
  context.strokeStyle = colours.halo;
  context.stroke();
  context.lineWidth = 3;
  context.strokeStyle = colours.active;
  context.stroke();
}

function paintStop(
  context: CanvasRenderingContext2D,
  { left, top }: { left: number; top: number },
  number: string,
  colours: Colours,
): void {
  context.beginPath();
  context.arc(left, top, stopRadius, 0, 2 * Math.PI);
  context.fillStyle = colours.active;
  context.fill();
  context.lineWidth = 2;
  context.strokeStyle = colours.halo;
  context.stroke();
  paintNumber(context, { left, top }, number, colours.ink);
}

function paintNumber(
  context: CanvasRenderingContext2D,
  { left, top }: { left: number; top: number },
  number: string,
  colour: string,
): void {
  context.fillStyle = colour;
  context.font = "650 12px 'Inter Variable', sans-serif";
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(number, left, top + 0.5);
  context.textAlign = 'start';
}

function shortCount(count: number): string {
  return count < 1000 ? String(count) : `${Math.round(count / 1000)}k`;
}

function paintMarker(
  context: CanvasRenderingContext2D,
  { left, top }: { left: number; top: number },
  colours: Colours,
): void {
  context.beginPath();
  context.moveTo(left, top);
  context.bezierCurveTo(left - 4, top - 10, left - 11, top - 14, left - 11, top - 22);
  context.arc(left, top - 22, 11, Math.PI, 0);
  context.bezierCurveTo(left + 11, top - 14, left + 4, top - 10, left, top);
  context.fillStyle = colours.active;
  context.fill();
  context.lineWidth = 2;
  context.strokeStyle = colours.halo;
  context.stroke();
  context.beginPath();
  context.arc(left, top - 22, 4, 0, 2 * Math.PI);
  context.fillStyle = colours.halo;
  context.fill();
}
