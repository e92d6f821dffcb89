// What is drawn on the map: countries, names of cities, and the sites.
import { currentLanguage } from '../texts/language.ts';
import { cities } from './cities.ts';
import type { Cluster } from './clusters.ts';
import { type Country, origin } from './outline.ts';
import { type Position, type Size, toPixels, type View, worldPixels } from './view.ts';

export interface Picture {
  countries: readonly Country[];
  clusters: readonly Cluster[];
  /** The one under the pointer. */
  active?: Cluster;
  /** A position that is being chosen. */
  marker?: Position;
}

type Colours = Record<'water' | 'land' | 'border' | 'label' | 'halo' | 'leaf' | 'active' | 'ink', string>;

/** The theme's colours, as the style sheet has them for the map. */
function readColours(canvas: HTMLCanvasElement): Colours {
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
  };
}

export function paintMap(canvas: HTMLCanvasElement, view: View, size: Size, picture: Picture): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const density = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(size.width * density), Math.round(size.height * density)];
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const colours = readColours(canvas);
  context.setTransform(density, 0, 0, density, 0, 0);
  context.fillStyle = colours.water;
  context.fillRect(0, 0, size.width, size.height);
  paintCountries(context, view, size, picture.countries, colours, density);
  context.setTransform(density, 0, 0, density, 0, 0);
  paintCities(context, view, size, picture.clusters, colours);
  for (const cluster of picture.clusters.toReversed()) {
    paintCluster(context, view, size, cluster, cluster === picture.active, colours);
  }
  if (picture.marker) paintMarker(context, toPixels(view, size, picture.marker), colours);
}

function paintCountries(
  context: CanvasRenderingContext2D,
  view: View,
  size: Size,
  countries: readonly Country[],
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
  for (const { path, left, top, right, bottom } of countries) {
    const isSeen =
      right > x - halfWidth && left < x + halfWidth && bottom > y - halfHeight && top < y + halfHeight;
    // What would be smaller than a pixel is left out.
    if (!isSeen || Math.max(right - left, bottom - top) * scale < 1) continue;
    context.fill(path, 'evenodd');
    context.stroke(path);
  }
}

function paintCities(
  context: CanvasRenderingContext2D,
  view: View,
  size: Size,
  clusters: readonly Cluster[],
  colours: Colours,
): void {
  const marks = clusters.map((cluster) => ({
    ...toPixels(view, size, cluster),
    radius: radiusOf(cluster),
  }));
  const taken: { left: number; top: number; right: number; bottom: number }[] = [];
  context.font = "500 12px 'Inter Variable', sans-serif";
  context.textBaseline = 'middle';
  context.lineWidth = 3;
  context.lineJoin = 'round';
  for (const city of cities) {
    if (view.zoom < city.from - 0.5) continue;
    const { left, top } = toPixels(view, size, city);
    if (left < -50 || top < -10 || left > size.width + 10 || top > size.height + 10) continue;
    const name = city.name[currentLanguage()];
    // A name beside the mark that lies on its city can be read; one beneath it cannot.
    const cover = marks.find((mark) => Math.hypot(mark.left - left, mark.top - top) < mark.radius + 10);
    const start = cover ? Math.max(cover.left + cover.radius, left) + 4 : left + 7;
    const box = {
      left: left - 4,
      top: top - 9,
      right: start + context.measureText(name).width + 3,
      bottom: top + 9,
    };
    const isTaken = taken.some(
      (other) =>
        box.left < other.right && box.right > other.left && box.top < other.bottom && box.bottom > other.top,
    );
    if (isTaken) continue;
    taken.push(box);
    context.fillStyle = colours.label;
    if (!cover) {
      context.beginPath();
      context.arc(left, top, 2, 0, 2 * Math.PI);
      context.fill();
    }
    context.strokeStyle = colours.halo;
    context.strokeText(name, start, top);
    context.fillText(name, start, top);
  }
}

/** The area of a mark grows with the number of its sites. */
export function radiusOf({ count }: Cluster): number {
  return count === 1 ? 7 : Math.min(11 + Math.log2(count) * 1.7, 26);
}

function paintCluster(
  context: CanvasRenderingContext2D,
  view: View,
  size: Size,
  cluster: Cluster,
  isActive: boolean,
  colours: Colours,
): void {
  const { left, top } = toPixels(view, size, cluster);
  const radius = radiusOf(cluster) + (isActive ? 2 : 0);
  if (left < -radius || top < -radius || left > size.width + radius || top > size.height + radius) return;
  context.beginPath();
  context.arc(left, top, radius, 0, 2 * Math.PI);
  context.fillStyle = isActive ? colours.active : colours.leaf;
  context.fill();
  context.lineWidth = 2;
  context.strokeStyle = colours.halo;
  context.stroke();
  if (cluster.count === 1) return;
  context.fillStyle = colours.ink;
  context.font = "650 12px 'Inter Variable', sans-serif";
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(shortCount(cluster.count), left, top + 0.5);
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
