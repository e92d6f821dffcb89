// Tiles of the operator's choice beneath the marks. MapLibre draws them and nothing else; the view is ours.
import 'maplibre-gl/dist/maplibre-gl.css';
import { useComputedColorScheme } from '@mantine/core';
import { type StyleSpecification, setWorkerUrl, Map as TileMap } from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import { useEffect, useRef } from 'react';
import { currentLanguage } from '../../texts/language.ts';
import classes from '../map.module.css';
import type { TileFile } from '../map-settings.ts';
import { maxZoom, type Size, toPosition, type View } from '../view.ts';
import { basemapStyle } from './basemap-style.ts';

// The content security policy allows workers from this host only, and none from a blob.
setWorkerUrl(new URL(workerUrl, location.href).href);

interface TileLayerProps {
  url: string;
  file: TileFile | null;
  view: View;
  size: Size;
  /** Called when nothing can be shown: no WebGL, or a host that does not answer. */
  onFail: () => void;
}

export function TileLayer({ url, file, view, size, onFail }: TileLayerProps) {
  const box = useRef<HTMLDivElement>(null);
  const map = useRef<TileMap>(undefined);
  const isOwnStyle = file?.kind === 'VECTOR';
  const scheme = useComputedColorScheme();
  const look = isOwnStyle ? `${scheme} ${currentLanguage()}` : '';

  // biome-ignore lint/correctness/useExhaustiveDependencies: the view moves the map below, and does not make a new one. Another look does.
  useEffect(() => {
    let hasTile = false;
    try {
      map.current = new TileMap({
        container: box.current!,
        style: styleOf(url, file, box.current!),
        interactive: false,
        attributionControl: false,
        maxZoom,
        ...cameraOf(view),
        // The marks above follow our view, wherever it is.
        transformConstrain: (center, zoom) => ({ center, zoom: zoom ?? 0 }),
      });
    } catch {
      onFail();
      return;
    }
    map.current.on('sourcedata', ({ tile }) => {
      if (tile?.state === 'loaded') hasTile = true;
    });
    // A single tile may be missing.
    map.current.on('error', () => {
      if (!hasTile) onFail();
    });
    return () => map.current?.remove();
  }, [url, onFail, look]);

  useEffect(() => {
    map.current?.jumpTo(cameraOf(view));
  }, [view]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: MapLibre reads the size from the page.
  useEffect(() => {
    map.current?.resize();
  }, [size]);

  // MapLibre's own styles give its box a position, hence the one around it.
  return (
    <div className={classes.tiles} data-foreign={!isOwnStyle || undefined} aria-hidden="true">
      <div ref={box} className={classes.tilesBox} />
    </div>
  );
}

/** MapLibre's world is 512 pixels wide at zoom 0, ours 256. */
function cameraOf(view: View) {
  const { lat, lng } = toPosition(view);
  return { center: [lng, lat] as [number, number], zoom: view.zoom - 1 };
}

function styleOf(url: string, file: TileFile | null, element: Element): string | StyleSpecification {
  if (!url.includes('{z}')) return url;
  const tiles = file ? location.origin + url : url;
  const { kind, minZoom, maxZoom: maxzoom } = file ?? { kind: 'RASTER', minZoom: 0, maxZoom: 19 };
  if (kind === 'VECTOR') {
    const style = getComputedStyle(element);
    const readColour = (name: string) => style.getPropertyValue(`--map-${name}`).trim();
    return basemapStyle({ tiles, minZoom, maxZoom: maxzoom, language: currentLanguage(), readColour });
  }
  return {
    version: 8,
    sources: { tiles: { type: 'raster', tiles: [tiles], tileSize: 256, minzoom: minZoom, maxzoom } },
    layers: [{ id: 'tiles', type: 'raster', source: 'tiles', paint: { 'raster-fade-duration': 0 } }],
  };
}
