// Tiles of the operator's choice beneath the marks. MapLibre draws them and nothing else; the view is ours.
import 'maplibre-gl/dist/maplibre-gl.css';
import { type StyleSpecification, setWorkerUrl, Map as TileMap } from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import { useEffect, useRef } from 'react';
import classes from './map.module.css';
import { maxZoom, type Size, toPosition, type View } from './view.ts';

// The content security policy allows workers from this host only, and none from a blob.
setWorkerUrl(new URL(workerUrl, location.href).href);

interface TileLayerProps {
  url: string;
  view: View;
  size: Size;
  /** Called when nothing can be shown: no WebGL, or a host that does not answer. */
  onFail: () => void;
}

export function TileLayer({ url, view, size, onFail }: TileLayerProps) {
  const box = useRef<HTMLDivElement>(null);
  const map = useRef<TileMap>(undefined);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the view moves the map below, and does not make a new one.
  useEffect(() => {
    let hasTile = false;
    try {
      map.current = new TileMap({
        container: box.current!,
        style: styleOf(url),
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
  }, [url, onFail]);

  useEffect(() => {
    map.current?.jumpTo(cameraOf(view));
  }, [view]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: MapLibre reads the size from the page.
  useEffect(() => {
    map.current?.resize();
  }, [size]);

  // MapLibre's own styles give its box a position, hence the one around it.
  return (
    <div className={classes.tiles} aria-hidden="true">
      <div ref={box} className={classes.tilesBox} />
    </div>
  );
}

/** MapLibre's world is 512 pixels wide at zoom 0, ours 256. */
function cameraOf(view: View) {
  const { lat, lng } = toPosition(view);
  return { center: [lng, lat] as [number, number], zoom: view.zoom - 1 };
}

function styleOf(url: string): string | StyleSpecification {
  if (!url.includes('{z}')) return url;
  return {
    version: 8,
    sources: { tiles: { type: 'raster', tiles: [url], tileSize: 256, maxzoom: 19 } },
    layers: [{ id: 'tiles', type: 'raster', source: 'tiles', paint: { 'raster-fade-duration': 0 } }],
  };
}
