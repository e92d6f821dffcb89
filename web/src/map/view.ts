// The part of the world that is seen. World coordinates are Mercator's, from 0 to 1 in both directions, north at the top.
export interface View {
  /** The middle. */
  x: number;
  y: number;
  /** The world is 256 pixels wide at 0, and twice as wide with every 1 more. */
  zoom: number;
}

export interface Size {
  width: number;
  height: number;
}

export interface Position {
  lat: number;
  lng: number;
}

const minZoom = 1;
export const maxZoom = 17;
const maxLatitude = 85.05;
const marginPixels = 64;

export function toWorld({ lat, lng }: Position): { x: number; y: number } {
  const sine = Math.sin((Math.min(Math.max(lat, -maxLatitude), maxLatitude) * Math.PI) / 180);
  return { x: lng / 360 + 0.5, y: 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI) };
}

export function toPosition({ x, y }: { x: number; y: number }): Position {
  return { lat: (Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) * 180) / Math.PI, lng: (x - 0.5) * 360 };
}

export function worldPixels(zoom: number): number {
  return 256 * 2 ** zoom;
}

/** Keeps the middle within the edges of the world, and the zoom within its limits. */
export function clampView({ x, y, zoom }: View): View {
  const clamp = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high);
  return { x: clamp(x, 0, 1), y: clamp(y, 0, 1), zoom: clamp(zoom, minZoom, maxZoom) };
}

/** Pixels of the map, from its upper left corner. */
export function toPixels(view: View, size: Size, position: Position): { left: number; top: number } {
  const world = toWorld(position);
  const scale = worldPixels(view.zoom);
  return {
    left: size.width / 2 + (world.x - view.x) * scale,
    top: size.height / 2 + (world.y - view.y) * scale,
  };
}

export function fromPixels(view: View, size: Size, left: number, top: number): Position {
  const scale = worldPixels(view.zoom);
  return toPosition({
    x: view.x + (left - size.width / 2) / scale,
    y: view.y + (top - size.height / 2) / scale,
  });
}

export function moveView(view: View, left: number, top: number): View {
  const scale = worldPixels(view.zoom);
  return clampView({ ...view, x: view.x + left / scale, y: view.y + top / scale });
}

/** The place under the given pixel stays there. */
export function zoomView(
  view: View,
  size: Size,
  change: number,
  left = size.width / 2,
  top = size.height / 2,
): View {
  const zoom = clampView({ ...view, zoom: view.zoom + change }).zoom;
  const [before, after] = [worldPixels(view.zoom), worldPixels(zoom)];
  const shift = (pixels: number) => pixels / before - pixels / after;
  return clampView({
    x: view.x + shift(left - size.width / 2),
    y: view.y + shift(top - size.height / 2),
    zoom,
  });
}

export interface Bounds {
  west: number;
  south: number;
  east: number;
  north: number;
}

export function boundsOf(view: View, size: Size): Bounds {
  const upperLeft = fromPixels(view, size, 0, 0);
  const lowerRight = fromPixels(view, size, size.width, size.height);
  const round = (degrees: number, most: number) =>
    Number(Math.min(Math.max(degrees, -most), most).toFixed(5));
  return {
    west: round(upperLeft.lng, 180),
    south: round(lowerRight.lat, 90),
    east: round(lowerRight.lng, 180),
    north: round(upperLeft.lat, 90),
  };
}

/** Shows all positions with room around them. A single one is not shown from too near. */
export function fitView(positions: readonly Position[], size: Size, nearest = 11): View {
  const points = positions.map(toWorld);
  const [left, right] = [Math.min(...points.map(({ x }) => x)), Math.max(...points.map(({ x }) => x))];
  const [top, bottom] = [Math.min(...points.map(({ y }) => y)), Math.max(...points.map(({ y }) => y))];
  const zoomFor = (extent: number, pixels: number) =>
    Math.log2(Math.max(pixels - 2 * marginPixels, 64) / 256 / Math.max(extent, 1e-9));
  const zoom = Math.min(zoomFor(right - left, size.width), zoomFor(bottom - top, size.height), nearest);
  return clampView({ x: (left + right) / 2, y: (top + bottom) / 2, zoom });
}

/** A round distance, and how long it is on the map at this place. */
export function scaleOf(view: View, mostPixels: number): { metres: number; pixels: number } {
  const { lat } = toPosition(view);
  const metresPerPixel = (40_075_017 * Math.cos((lat * Math.PI) / 180)) / worldPixels(view.zoom);
  const most = metresPerPixel * mostPixels;
  const power = 10 ** Math.floor(Math.log10(most));
  const metres = [5, 2, 1].map((step) => step * power).find((distance) => distance <= most)!;
  return { metres, pixels: metres / metresPerPixel };
}

export const germany: View = { ...toWorld({ lat: 51.2, lng: 10.4 }), zoom: 5.6 };
