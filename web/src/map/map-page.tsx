// Where the sites are.
import { Button, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { lazy, memo, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { todayIn } from '../../../core/calendar-days.ts';
import type { MapCluster } from '../../../core/map-cluster.ts';
import { Dialog } from '../frame/dialog.tsx';
import { EmptyNote, FailureNote } from '../frame/failure.tsx';
import { AnchorLink, ButtonLink, toSearch } from '../frame/links.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon } from '../icons.tsx';
import { formatNumber } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import { nearestCity } from './cities.ts';
import { allClustersQuery, clustersQuery } from './clusters.ts';
import type { RouteChoice } from './day-route.tsx';
import classes from './map.module.css';
import { MapCanvas } from './map-canvas.tsx';
import { mapSettingsQuery } from './map-settings.ts';
import { useView } from './use-view.ts';
import {
  boundsOf,
  clampView,
  fitView,
  germany,
  type Position,
  type Size,
  toPosition,
  toWorld,
  type View,
} from './view.ts';

/** The view that the address names: "back" leads to the same place. */
function viewFrom({ lat, lng, zoom }: Record<string, string | undefined>): View | undefined {
  const numbers = { lat: Number(lat), lng: Number(lng), zoom: Number(zoom) };
  if (!lat || !lng || !zoom || Object.values(numbers).some(Number.isNaN)) return undefined;
  return clampView({ ...toWorld(numbers), zoom: numbers.zoom });
}

export function MapPage() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { history } = useRouter();
  const { employeeId, day, ...place } = useSearch({ strict: false }) as Record<string, string | undefined>;
  const given = viewFrom(place);
  const { view, settled, change, flyTo } = useView(given ?? germany);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const isPlaced = useRef(given !== undefined);
  const all = useQuery(allClustersQuery);
  const total = all.data?.reduce((sum, { count }) => sum + count, 0);
  const settings = useQuery(mapSettingsQuery);
  const approximate = all.data?.reduce((sum, cluster) => sum + (cluster.approximate ?? 0), 0) ?? 0;
  const seen = useQuery({
    ...clustersQuery(boundsOf(settled, size), Math.floor(settled.zoom)),
    enabled: size.width > 0 && isPlaced.current,
  });
  const clusters = seen.data ?? noClusters;
  const [route, setRoute] = useState<readonly Position[]>(noRoute);
  const [choice, setChoice] = useState<RouteChoice | undefined>(
    employeeId || day ? { employeeId, day } : undefined,
  );
  const [shown, setShown] = useState<Position>();
  const show = useCallback(
    (position: Position) => {
      setShown(position);
      flyTo(() => ({ ...toWorld(position), zoom: proposalZoom }));
      window.scrollTo({ top: 0 });
    },
    [flyTo],
  );
  const showRoute = useCallback(
    (stops: readonly Position[]) => {
      setRoute(stops);
      if (stops.length > 0 && size.width > 0) flyTo(() => fitView(stops, size, routeZoom));
    },
    [flyTo, size],
  );
  const [house, setHouse] = useState<MapCluster>();

  // At first everything is seen.
  useEffect(() => {
    if (isPlaced.current || !all.data || size.width === 0) return;
    isPlaced.current = true;
    change(() => (all.data.length > 0 ? fitView(all.data, size) : germany));
  }, [all.data, size, change]);

  useEffect(() => {
    // Somebody who has clicked on a site is on the way to its page, which may still be loading.
    if (!isPlaced.current || history.location.pathname !== '/map') return;
    const { lat, lng } = toPosition(settled);
    const search = { lat: lat.toFixed(4), lng: lng.toFixed(4), zoom: settled.zoom.toFixed(2), ...choice };
    void navigate({ to: '/map', search: toSearch(search), replace: true, resetScroll: false });
  }, [settled, choice, navigate, history]);

  const open = useCallback(
    (cluster: MapCluster) => {
      if (cluster.id)
        void navigate({ to: '/data/$collection/$id', params: { collection: 'sites', id: cluster.id } });
      else if (cluster.sites) setHouse(cluster);
      else if (cluster.zipCode)
        void navigate({
          to: '/data/$collection',
          params: { collection: 'sites' },
          search: toSearch({ zipCode: cluster.zipCode }),
        });
      else flyTo((before) => clampView({ ...toWorld(cluster), zoom: before.zoom + 2 }));
    },
    [navigate, flyTo],
  );

  return (
    <div className={classes.page}>
      <PageHead
        title={t('map.title')}
        text={
          [
            total !== undefined &&
              total > 0 &&
              t('map.count', { count: total, formatted: formatNumber(total) }),
            approximate > 0 && t('map.ofThemApproximate', { formatted: formatNumber(approximate) }),
          ]
            .filter(Boolean)
            .join(', ') || '\u00a0'
        }
        actions={
          // Shown while the sites load: nothing moves when they arrive.
          all.data?.length !== 0 && (
            <>
              <Button
                variant="default"
                onClick={() => setChoice(choice ? undefined : { day: todayIn(undefined) })}
              >
                {t(choice ? 'map.routeClose' : 'map.route')}
              </Button>
              <Button variant="default" onClick={() => all.data && flyTo(() => fitView(all.data, size))}>
                {t('map.all')}
              </Button>
            </>
          )
        }
      />
      {(all.error ?? seen.error) && (
        <FailureNote error={all.error ?? seen.error} onRetry={() => (all.error ? all : seen).refetch()} />
      )}
      <div className={classes.columns}>
        <div className={`panel ${classes.panel}`}>
          <MapCanvas
            label={t('map.title')}
            view={view}
            onView={change}
            size={size}
            onSize={setSize}
            clusters={clusters}
            onCluster={open}
            marker={shown}
            route={route}
          />
          {total === 0 && (
            <div className={classes.empty}>
              <EmptyNote icon="map" title={t('map.none')} text={t('map.noneText')}>
                <ButtonLink to="/attention" search={{ code: 'no_position' }} variant="light" mt="sm">
                  {t('map.toMissing')}
                </ButtonLink>
              </EmptyNote>
            </div>
          )}
        </div>
        <div className={classes.side}>
          {choice && (
            <Suspense>
              <DayRoute {...choice} onChange={setChoice} onRoute={showRoute} />
            </Suspense>
          )}
          <SeenList clusters={clusters} isEmpty={total === 0} onOpen={open} />
        </div>
      </div>
      {house && (
        <Dialog
          onClose={() => setHouse(undefined)}
          title={t(house.approximate ? 'map.samePostcode' : 'map.house')}
        >
          <Stack gap={0}>
            {house.sites?.map((site) => (
              <AnchorLink
                key={site.id}
                to={`/data/sites/${site.id}`}
                className={classes.entry}
                c="var(--stamm-ink)"
              >
                <Icon name="site" />
                <span>{site.name}</span>
              </AnchorLink>
            ))}
          </Stack>
        </Dialog>
      )}
      {settings.data?.hasGeocoder && (
        <Suspense>
          <Proposals onShow={show} />
        </Suspense>
      )}
    </div>
  );
}

const Proposals = lazy(async () => ({ default: (await import('./proposals.tsx')).Proposals }));

const DayRoute = lazy(async () => ({ default: (await import('./day-route.tsx')).DayRoute }));

const proposalZoom = 15;
const routeZoom = 14;
const noRoute: readonly Position[] = [];

const noClusters: MapCluster[] = [];
const shownEntries = 100;

interface SeenListProps {
  clusters: readonly MapCluster[];
  isEmpty: boolean;
  onOpen: (cluster: MapCluster) => void;
}

/** The same as on the map, for the keyboard and for screen readers. Not made anew with each step that the map moves. */
const SeenList = memo(function SeenList({ clusters, isEmpty, onOpen }: SeenListProps) {
  const { t } = useTranslation();
  const count = clusters.reduce((sum, cluster) => sum + cluster.count, 0);
  return (
    <section className={`panel ${classes.seen}`} aria-labelledby="seen-title">
      <h2 id="seen-title" className={classes.seenTitle}>
        {t('map.seen')}
      </h2>
      <Text size="sm" c="dimmed" role="status">
        {t('map.count', { count, formatted: formatNumber(count) })}
      </Text>
      {clusters.length === 0 && !isEmpty && (
        <Text size="sm" mt="sm">
          {t('map.seenNone')}
        </Text>
      )}
      <ul className={classes.list}>
        {clusters.slice(0, shownEntries).map((cluster) => (
          <li key={cluster.id ?? `${cluster.lat} ${cluster.lng}`}>
            <Entry cluster={cluster} onOpen={onOpen} />
          </li>
        ))}
      </ul>
      {clusters.length > shownEntries && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('map.more', { formatted: formatNumber(clusters.length - shownEntries) })}
        </Text>
      )}
      <AnchorLink to="/attention" search={{ code: 'no_position' }} size="sm" mt="md" display="inline-block">
        {t('map.missing')}
      </AnchorLink>
    </section>
  );
});

function Entry({ cluster, onOpen }: { cluster: MapCluster; onOpen: (cluster: MapCluster) => void }) {
  const { t } = useTranslation();
  const city = nearestCity(cluster)?.name[currentLanguage()];
  const approximate =
    cluster.approximate &&
    (cluster.approximate === cluster.count
      ? t('map.approximate')
      : t('map.ofThemApproximate', { formatted: formatNumber(cluster.approximate) }));
  const near = [city && t('map.near', { city }), approximate].filter(Boolean).join(', ');
  if (cluster.id)
    return (
      <AnchorLink to={`/data/sites/${cluster.id}`} className={classes.entry} c="var(--stamm-ink)">
        <Icon name="site" />
        <span>
          {cluster.name}
          {near && <small>{near}</small>}
        </span>
      </AnchorLink>
    );
  return (
    <button type="button" className={classes.entry} onClick={() => onOpen(cluster)}>
      <Icon name={cluster.sites || cluster.zipCode ? 'site' : 'search'} />
      <span>
        {t('map.count', { count: cluster.count, formatted: formatNumber(cluster.count) })}
        {near && <small>{near}</small>}
      </span>
    </button>
  );
}
