// The map of all sites.
import { Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { lazy, type RefObject, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { todayIn } from '../../../core/calendar/calendar-days.ts';
import type { MapCluster } from '../../../core/place/map-cluster.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { EmptyNote, FailureNote } from '../frame/failure.tsx';
import { AnchorLink, ButtonLink, toSearch } from '../frame/links.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon } from '../icons.tsx';
import { formatNumber } from '../texts/format.ts';
import { allClustersQuery, clustersQuery, nothingSeen } from './clusters.ts';
import type { RouteChoice } from './day-route.tsx';
import type { ChangeView } from './gestures.ts';
import classes from './map.module.css';
import { MapCanvas } from './map-canvas.tsx';
import { mapSettingsQuery } from './map-settings.ts';
import { toPeople } from './people.ts';
import { SeenList } from './seen-list.tsx';
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
  const { employeeId, day, ...place } = useSearch({ strict: false }) as Record<string, string | undefined>;
  const given = viewFrom(place);
  const { view, settled, change, flyTo } = useView(given ?? germany);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const isPlaced = useRef(given !== undefined);
  const all = useQuery(allClustersQuery);
  const total = all.data?.clusters.reduce((sum, { count }) => sum + count, 0);
  const settings = useQuery(mapSettingsQuery);
  const approximate = all.data?.clusters.reduce((sum, cluster) => sum + (cluster.approximate ?? 0), 0) ?? 0;
  const seen = useQuery({
    ...clustersQuery(boundsOf(settled, size), Math.floor(settled.zoom)),
    enabled: size.width > 0 && isPlaced.current,
  });
  const { clusters, employees } = seen.data ?? nothingSeen;
  const people = useMemo(() => toPeople(employees), [employees]);
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

  // Show all sites at first.
  useEffect(() => {
    if (isPlaced.current || !all.data || size.width === 0) return;
    isPlaced.current = true;
    change(() => (all.data.clusters.length > 0 ? fitView(all.data.clusters, size) : germany));
  }, [all.data, size, change]);
  useViewInAddress(isPlaced, settled, choice);
  const open = useOpening(flyTo, setHouse);

  return (
    <div className={classes.page}>
      <PageHead
        title={t('map.title')}
        text={countText(total, approximate, t)}
        actions={
          // Show it while the sites load: nothing moves when they arrive.
          all.data?.clusters.length !== 0 && (
            <>
              <Button
                variant="default"
                onClick={() => setChoice(choice ? undefined : { day: todayIn(undefined) })}
              >
                {t(choice ? 'map.routeClose' : 'map.route')}
              </Button>
              <Button
                variant="default"
                onClick={() => all.data && flyTo(() => fitView(all.data.clusters, size))}
              >
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
            people={people}
            onCluster={open}
            marker={shown}
            route={route}
          />
          {total === 0 && <NoPositions />}
        </div>
        <div className={classes.side}>
          {choice && (
            <Suspense>
              <DayRoute {...choice} onChange={setChoice} onRoute={showRoute} />
            </Suspense>
          )}
          <SeenList clusters={clusters} people={people} isEmpty={total === 0} onOpen={open} />
        </div>
      </div>
      {house && <HouseDialog house={house} onClose={() => setHouse(undefined)} />}
      {settings.data?.hasGeocoder && (
        <Suspense>
          <Proposals onShow={show} />
        </Suspense>
      )}
    </div>
  );
}

function useViewInAddress(
  isPlaced: RefObject<boolean>,
  settled: View,
  choice: RouteChoice | undefined,
): void {
  const navigate = useNavigate();
  const { history } = useRouter();
  useEffect(() => {
    // Somebody who has clicked on a site is on the way to its page, which may still be loading.
    if (!isPlaced.current || history.location.pathname !== '/map') return;
    const { lat, lng } = toPosition(settled);
    const search = { lat: lat.toFixed(4), lng: lng.toFixed(4), zoom: settled.zoom.toFixed(2), ...choice };
    void navigate({ to: '/map', search: toSearch(search), replace: true, resetScroll: false });
  }, [isPlaced, settled, choice, navigate, history]);
}

/** A site opens its page, a house its sites, a postcode its list; other clusters come closer. */
function useOpening(
  flyTo: ChangeView,
  openHouse: (house: MapCluster) => void,
): (cluster: MapCluster) => void {
  const navigate = useNavigate();
  return useCallback(
    (cluster: MapCluster) => {
      const { id, zipCode } = cluster;
      if (id) void navigate({ to: '/data/$collection/$id', params: { collection: 'sites', id } });
      else if (cluster.sites) openHouse(cluster);
      else if (zipCode)
        void navigate({
          to: '/data/$collection',
          params: { collection: 'sites' },
          search: toSearch({ zipCode }),
        });
      else flyTo((before) => clampView({ ...toWorld(cluster), zoom: before.zoom + 2 }));
    },
    [navigate, flyTo, openHouse],
  );
}

function countText(total: number | undefined, approximate: number, t: TFunction): string {
  const parts = [
    total ? t('map.count', { count: total, formatted: formatNumber(total) }) : '',
    approximate > 0 ? t('map.ofThemApproximate', { formatted: formatNumber(approximate) }) : '',
  ];
  return parts.filter(Boolean).join(', ') || '\u00a0';
}

function NoPositions() {
  const { t } = useTranslation();
  return (
    <div className={classes.empty}>
      <EmptyNote icon="map" title={t('map.none')} text={t('map.noneText')}>
        <ButtonLink to="/attention" search={{ code: 'no_position' }} variant="light" mt="sm">
          {t('map.toMissing')}
        </ButtonLink>
      </EmptyNote>
    </div>
  );
}

/** The sites of one place. */
function HouseDialog({ house, onClose }: { house: MapCluster; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog onClose={onClose} title={t(house.approximate ? 'map.samePostcode' : 'map.house')}>
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
  );
}

const Proposals = lazy(async () => ({ default: (await import('./proposals.tsx')).Proposals }));

const DayRoute = lazy(async () => ({ default: (await import('./day-route.tsx')).DayRoute }));

const proposalZoom = 15;
const routeZoom = 14;
const noRoute: readonly Position[] = [];
