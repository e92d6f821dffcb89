// Draws the vector tiles of a basemap by Protomaps (version 4) in the colours of the app. MapLibre draws letters with the
// font of the page: glyph files are not needed.
import type {
  ExpressionSpecification,
  LayerSpecification,
  StyleSpecification,
  SymbolLayerSpecification,
} from 'maplibre-gl';

interface Basemap {
  tiles: string;
  minZoom: number;
  maxZoom: number;
  language: string;
  /** The value of `--map-NAME`. */
  readColour: (name: string) => string;
}

const source = 'basemap';
const font = ['Inter Variable'];

const greenKinds =
  'park garden grass grassland meadow scrub wetland village_green allotments cemetery golf_course recreation_ground playground pitch dog_park zoo';
const builtKinds =
  'residential commercial industrial railway school kindergarten university college hospital aerodrome military pedestrian platform';

export function basemapStyle({ tiles, minZoom, maxZoom, language, readColour }: Basemap): StyleSpecification {
  const colour = {
    land: readColour('land'),
    water: readColour('water'),
    wood: readColour('wood'),
    green: readColour('green'),
    built: readColour('built'),
    building: readColour('building'),
    road: readColour('road'),
    mainRoad: readColour('main-road'),
    roadEdge: readColour('road-edge'),
    rail: readColour('rail'),
    border: readColour('border'),
    label: readColour('label'),
    town: readColour('town'),
    waterLabel: readColour('water-label'),
    halo: readColour('halo'),
  };
  const name: ExpressionSpecification = ['coalesce', ['get', `name:${language}`], ['get', 'name']];

  const area = (
    id: string,
    layer: string,
    paint: object,
    filter?: ExpressionSpecification,
  ): LayerSpecification => ({
    id,
    type: 'fill',
    source,
    'source-layer': layer,
    filter: filter ? ['all', isArea, filter] : isArea,
    paint: { 'fill-antialias': true, ...paint },
  });
  const line = (
    id: string,
    layer: string,
    filter: ExpressionSpecification,
    paint: object,
    minzoom = 0,
  ): LayerSpecification => ({
    id,
    type: 'line',
    source,
    'source-layer': layer,
    filter,
    minzoom,
    layout: { 'line-cap': 'butt', 'line-join': 'round' },
    paint,
  });
  const road = (kind: string, filter: ExpressionSpecification, widths: number[], fill: string) => {
    const [from] = widths as [number];
    const edge = widths.map((value, index) => (index % 2 === 0 ? value : value + 1.5));
    return [
      line(
        `${kind}-edge`,
        'roads',
        filter,
        {
          'line-color': colour.roadEdge,
          'line-width': grow(edge),
          'line-opacity': fade(from, 0.3, 14, 1),
        },
        from,
      ),
      line(kind, 'roads', filter, { 'line-color': fill, 'line-width': grow(widths) }, from),
    ] as const;
  };
  const text = (
    id: string,
    layer: string,
    filter: ExpressionSpecification,
    layout: SymbolLayerSpecification['layout'],
    { minzoom = 0, textColour = colour.label } = {},
  ): LayerSpecification => ({
    id,
    type: 'symbol',
    source,
    'source-layer': layer,
    filter,
    minzoom,
    layout: { 'text-field': name, 'text-font': font, 'text-size': 12, 'text-max-width': 8, ...layout },
    paint: { 'text-color': textColour, 'text-halo-color': colour.halo, 'text-halo-width': 1.5 },
  });

  const isMain: ExpressionSpecification = [
    'any',
    isKind('highway'),
    ['in', ['get', 'kind_detail'], ['literal', ['trunk', 'trunk_link', 'primary', 'primary_link']]],
  ];
  const isMajor = isKind('major_road');
  const [minorEdge, minor] = road('minor', isKind('minor_road'), [12, 0.5, 14, 2, 17, 10], colour.road);
  const [majorEdge, major] = road('major', isMajor, [8, 0.4, 12, 2, 14, 4, 17, 14], colour.road);
  const [mainEdge, main] = road('main', isMain, [5, 0.5, 9, 1.2, 12, 3, 14, 5, 17, 16], colour.mainRoad);

  return {
    version: 8,
    sources: { [source]: { type: 'vector', tiles: [tiles], minzoom: minZoom, maxzoom: maxZoom } },
    layers: [
      // The sea is a part of the water.
      { id: 'land', type: 'background', paint: { 'background-color': colour.land } },
      area(
        'far-woods',
        'landcover',
        { 'fill-color': colour.wood, 'fill-opacity': fade(5, 1, 8, 0) },
        isKind('forest'),
      ),
      area(
        'built',
        'landuse',
        { 'fill-color': colour.built, 'fill-opacity': fade(6, 0, 9, 1) },
        isKind(builtKinds),
      ),
      area(
        'green',
        'landuse',
        { 'fill-color': colour.green, 'fill-opacity': fade(8, 0, 11, 1) },
        isKind(greenKinds),
      ),
      area(
        'woods',
        'landuse',
        { 'fill-color': colour.wood, 'fill-opacity': fade(5, 0, 8, 1) },
        isKind('forest wood'),
      ),
      area('water', 'water', { 'fill-color': colour.water }),
      line(
        'rivers',
        'water',
        isKind('river canal'),
        { 'line-color': colour.water, 'line-width': grow([8, 0.8, 12, 1.6, 17, 8]) },
        8,
      ),
      line(
        'streams',
        'water',
        isKind('stream ditch drain'),
        { 'line-color': colour.water, 'line-width': grow([12, 0.5, 17, 3]) },
        12,
      ),
      area('buildings', 'buildings', {
        'fill-color': colour.building,
        'fill-opacity': fade(12.5, 0, 13.5, 1),
      }),
      line(
        'paths',
        'roads',
        isKind('path'),
        {
          'line-color': colour.roadEdge,
          'line-width': grow([13, 0.5, 17, 1.5]),
          'line-dasharray': [3, 2],
        },
        13.5,
      ),
      minorEdge,
      majorEdge,
      mainEdge,
      minor,
      major,
      main,
      line(
        'rails',
        'roads',
        isKind('rail'),
        { 'line-color': colour.rail, 'line-width': grow([10, 0.6, 17, 2]) },
        10,
      ),
      line('borders', 'boundaries', ['<=', ['coalesce', ['get', 'kind_detail'], 9], 4], {
        'line-color': colour.border,
        'line-width': fade(4, 0.8, 12, 1.6),
        'line-dasharray': [4, 2],
      }),
      text(
        'house-numbers',
        'buildings',
        isKind('address'),
        { 'text-field': ['get', 'addr_housenumber'], 'text-size': 10 },
        { minzoom: 15.5 },
      ),
      text(
        'water-names',
        'water',
        ['all', ['==', ['geometry-type'], 'LineString'], isKind('river canal')],
        { 'symbol-placement': 'line', 'text-size': 11 },
        { minzoom: 11, textColour: colour.waterLabel },
      ),
      text(
        'lake-names',
        'water',
        ['all', ['==', ['geometry-type'], 'Point'], isKind('sea ocean bay lake water')],
        { 'text-size': 11 },
        { minzoom: 4, textColour: colour.waterLabel },
      ),
      text('street-names', 'roads', isKind('minor_road'), alongLine, { minzoom: 14.5 }),
      text('road-names', 'roads', ['any', isMain, isMajor], alongLine, { minzoom: 13 }),
      text(
        'districts',
        'places',
        isKind('neighbourhood macrohood'),
        { 'text-size': fade(11, 11, 16, 14), 'symbol-sort-key': importance },
        { minzoom: 11 },
      ),
      text(
        'towns',
        'places',
        isKind('locality'),
        {
          'text-size': ['interpolate', ['linear'], ['zoom'], 5, sizeOfTown(10, 13), 10, sizeOfTown(12, 17)],
          'symbol-sort-key': importance,
          'text-padding': 4,
        },
        { textColour: colour.town },
      ),
      text('countries', 'places', isKind('country'), { 'text-size': 13, 'text-letter-spacing': 0.1 }),
    ],
  };
}

const isArea: ExpressionSpecification = ['==', ['geometry-type'], 'Polygon'];
const importance: ExpressionSpecification = ['coalesce', ['get', 'sort_key'], ['get', 'min_zoom'], 0];
const alongLine = { 'symbol-placement': 'line', 'text-size': 11, 'symbol-spacing': 300 } as const;

function isKind(kinds: string): ExpressionSpecification {
  return ['in', ['get', 'kind'], ['literal', kinds.split(' ')]];
}

/** Zooms and widths in turn. */
function grow(stops: readonly number[]): ExpressionSpecification {
  return ['interpolate', ['exponential', 1.5], ['zoom'], ...stops] as ExpressionSpecification;
}

function fade(from: number, first: number, to: number, last: number): ExpressionSpecification {
  return ['interpolate', ['linear'], ['zoom'], from, first, to, last];
}

/** Ranks go from villages, below 8, to cities of millions. */
function sizeOfTown(small: number, large: number): ExpressionSpecification {
  return ['interpolate', ['linear'], ['coalesce', ['get', 'population_rank'], 0], 6, small, 12, large];
}
