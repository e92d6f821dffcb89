// The map on a canvas, which moves thousands of marks smoothly. Screen readers use the list beside it.
import { ActionIcon, Alert, useComputedColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, type PointerEvent, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { MapCluster } from '../../../core/place/map-cluster.ts';
import { Icon } from '../icons.tsx';
import { formatDay, formatNumber } from '../texts/format.ts';
import { type ChangeView, useGestures } from './gestures.ts';
import classes from './map.module.css';
import { mapSettingsQuery } from './map-settings.ts';
import { nextDayQuery } from './next-day.ts';
import { loadOutline } from './outline.ts';
import { paintMap, radiusOf } from './painting.ts';
import type { People } from './people.ts';
import { loadPlaces, placesFrom } from './places.ts';
import { fromPixels, type Position, type Size, scaleOf, toPixels, type View, zoomView } from './view.ts';

const TileLayer = lazy(async () => ({ default: (await import('./tiles/tile-layer.tsx')).TileLayer }));

interface MapCanvasProps {
  label: string;
  view: View;
  onView: ChangeView;
  /** Called when the size is known, and when it changes. */
  onSize: (size: Size) => void;
  size: Size;
  clusters: readonly MapCluster[];
  people?: People;
  onCluster?: (cluster: MapCluster) => void;
  marker?: Position;
  /** Stops of a day in their order. */
  route?: readonly Position[];
  /** If given, a click chooses a place instead of opening a site. */
  onPlace?: (position: Position) => void;
}

export function MapCanvas(props: MapCanvasProps) {
  const { label, view, onView, onSize, size, clusters, people, onCluster, marker, route, onPlace } = props;
  const { t } = useTranslation();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = useComputedColorScheme();
  const settings = useQuery(mapSettingsQuery);
  const [areTilesAway, setAreTilesAway] = useState(false);
  const giveUpTiles = useCallback(() => setAreTilesAway(true), []);
  const tilesUrl = areTilesAway ? null : (settings.data?.tilesUrl ?? null);
  const showsOutlines = settings.isFetched && tilesUrl === null;
  const outline = useQuery({
    queryKey: ['outline'],
    queryFn: loadOutline,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: showsOutlines,
  });
  const places = useQuery({
    queryKey: ['places'],
    queryFn: loadPlaces,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: showsOutlines && view.zoom >= placesFrom,
  });
  const [active, setActive] = useState<MapCluster>();
  const shownActive = active && clusters.includes(active) && !onPlace ? active : undefined;

  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      onSize({ width, height });
    });
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, [onSize]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme's colours are read while painting.
  useEffect(() => {
    if (!canvas.current || size.width === 0) return;
    paintMap(canvas.current, view, size, {
      outlines: showsOutlines ? { outline: outline.data, places: places.data } : undefined,
      clusters,
      colourNames: people?.colourNames,
      active: shownActive,
      marker,
      route,
    });
  }, [
    view,
    size,
    showsOutlines,
    outline.data,
    places.data,
    clusters,
    people,
    shownActive,
    marker,
    route,
    scheme,
  ]);

  function find(left: number, top: number): MapCluster | undefined {
    return clusters.find((cluster) => {
      const place = toPixels(view, size, cluster);
      return Math.hypot(place.left - left, place.top - top) <= radiusOf(cluster) + 4;
    });
  }

  const gestures = useGestures({
    element: box,
    size,
    onView,
    onTap: (left, top) => {
      if (onPlace) {
        onPlace(fromPixels(view, size, left, top));
        return;
      }
      const cluster = find(left, top);
      if (cluster) onCluster?.(cluster);
    },
    onEnter: () => onPlace?.(fromPixels(view, size, size.width / 2, size.height / 2)),
  });

  function hover(event: PointerEvent) {
    gestures.onPointerMove(event);
    if (event.buttons !== 0 || event.pointerType !== 'mouse') return;
    const edge = event.currentTarget.getBoundingClientRect();
    setActive(find(event.clientX - edge.left, event.clientY - edge.top));
  }

  return (
    <div className={classes.frame}>
      <div
        ref={box}
        className={classes.map}
        role="application"
        aria-label={label}
        aria-description={t(onPlace ? 'map.keysPick' : 'map.keys')}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys move it.
        tabIndex={0}
        data-active={shownActive ? true : undefined}
        data-picking={onPlace ? true : undefined}
        {...gestures}
        onPointerMove={hover}
        onPointerLeave={() => setActive(undefined)}
      >
        {tilesUrl !== null && (
          <Suspense>
            <TileLayer
              url={tilesUrl}
              file={settings.data?.tileFile ?? null}
              view={view}
              size={size}
              onFail={giveUpTiles}
            />
          </Suspense>
        )}
        <canvas ref={canvas} className={classes.canvas} />
        {onPlace && <span className={classes.cross} aria-hidden="true" />}
        {shownActive && <Hint cluster={shownActive} people={people} view={view} size={size} />}
      </div>
      {(outline.error || areTilesAway) && (
        <Alert className={classes.note} color="yellow" icon={<Icon name="warning" />}>
          {t(outline.error ? 'map.noOutline' : 'map.noTiles')}
        </Alert>
      )}
      <div className={classes.bar}>
        <ScaleBar view={view} />
        <span className={classes.source}>
          {tilesUrl === null ? t('map.source') : settings.data?.attribution}
        </span>
        {([1, -1] as const).map((change) => (
          <ActionIcon
            key={change}
            size={32}
            variant="subtle"
            aria-label={t(change > 0 ? 'map.closer' : 'map.farther')}
            onClick={() => onView((before) => zoomView(before, size, change))}
          >
            <Icon name={change > 0 ? 'plus' : 'minus'} />
          </ActionIcon>
        ))}
      </div>
    </div>
  );
}

function ScaleBar({ view }: { view: View }) {
  const { metres, pixels } = scaleOf(view, 110);
  return (
    <span className={classes.scale} style={{ width: pixels }} aria-hidden="true">
      {metres < 1000 ? `${formatNumber(metres)} m` : `${formatNumber(metres / 1000)} km`}
    </span>
  );
}

/** Three lines and a mark, in pixels. */
const highestHint = 100;

interface HintProps {
  cluster: MapCluster;
  people: People | undefined;
  view: View;
  size: Size;
}

function Hint({ cluster, people, view, size }: HintProps) {
  const { t } = useTranslation();
  const { data: nextDay } = useQuery(nextDayQuery(cluster.id));
  const { left, top } = toPixels(view, size, cluster);
  const employee = cluster.employeeId && people?.names.get(cluster.employeeId);
  const isBelow = top < highestHint;
  return (
    <span
      className={classes.hint}
      data-below={isBelow || undefined}
      style={{ left, top: top + (radiusOf(cluster) + 8) * (isBelow ? 1 : -1) }}
      aria-hidden="true"
    >
      {cluster.name ?? t('map.count', { count: cluster.count, formatted: formatNumber(cluster.count) })}
      {employee && <small>{employee}</small>}
      {nextDay && (
        <small>
          {t('map.nextVisit', {
            day: formatDay(nextDay, { weekday: 'short', day: 'numeric', month: 'numeric' }),
          })}
        </small>
      )}
    </span>
  );
}
