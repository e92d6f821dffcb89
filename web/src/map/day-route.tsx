// The visits of an employee on a day, in the order of the nearest next stop.
import { Text } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { takesPlace, type VisitStatus } from '../../../core/calendar/visit-status.ts';
import { distanceInKm, orderByNearest } from '../../../core/place/route.ts';
import { call, queryString } from '../api/client.ts';
import { ReferencePicker } from '../forms/reference-picker.tsx';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { AnchorLink } from '../frame/links.tsx';
import { DayInput } from '../inputs/day-input.tsx';
import { formatNumber, isDay } from '../texts/format.ts';
import { startOf, startText } from '../visits/start-address.ts';
import { visitSettingsQuery } from '../visits/visits-query.ts';
import classes from './proposals.module.css';
import type { Position } from './view.ts';

export interface RouteChoice {
  employeeId?: string;
  day?: string;
}

interface Stop {
  id: string;
  name: string;
  position: Position | null;
  approximatePosition: Position | null;
}

interface DayRouteProps extends RouteChoice {
  onChange: (choice: RouteChoice) => void;
  /** Positions of the stops in their order. */
  onRoute: (route: readonly Position[]) => void;
}

/** A person visits fewer places on a day. */
const maxStops = 200;

function stopsQuery({ employeeId, day }: RouteChoice) {
  return queryOptions({
    queryKey: ['day-route', employeeId, day],
    queryFn: async ({ signal }) => {
      const asked = queryString({ from: day, until: day, employeeId, limit: maxStops });
      const visits = await call<{ data: { siteId: string; status: VisitStatus }[] }>(
        'GET',
        `/visits${asked}`,
        {
          signal,
        },
      );
      const ids = new Set(visits.data.filter(({ status }) => takesPlace(status)).map(({ siteId }) => siteId));
      if (ids.size === 0) return [];
      const query = queryString({ siteId: [...ids].join() });
      return (await call<{ data: Stop[] }>('GET', `/map/positions${query}`, { signal })).data;
    },
    enabled: employeeId !== undefined && isDay(day ?? ''),
    staleTime: 60_000,
  });
}

const positionOf = ({ position, approximatePosition }: Stop) => position ?? approximatePosition ?? undefined;

export function DayRoute({ employeeId, day = '', onChange, onRoute }: DayRouteProps) {
  const { t } = useTranslation();
  const { data, error } = useQuery(stopsQuery({ employeeId, day }));
  const { data: settings } = useQuery(visitSettingsQuery);
  const base = settings?.startAddress;
  const { stops, route } = useMemo(() => {
    const start = startOf(base);
    const ordered = orderByNearest(data ?? [], positionOf, start);
    const places = ordered.flatMap((stop) => positionOf(stop) ?? []);
    return { stops: ordered, route: start && places.length > 0 ? [start, ...places] : places };
  }, [data, base]);
  useEffect(() => {
    onRoute(route);
    return () => onRoute([]);
  }, [route, onRoute]);
  const box = useRef<HTMLDivElement>(null);
  // On a phone, the route opens below the map.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it opens.
  useEffect(() => {
    if (!employeeId) box.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const km = route.slice(1).reduce((sum, stop, index) => sum + distanceInKm(route[index]!, stop), 0);
  return (
    <div ref={box}>
      <Card title={t('map.route')} icon="calendar">
        <div className={classes.choice}>
          <ReferencePicker
            resources={['employee']}
            label={t('map.routeEmployee')}
            value={employeeId}
            onChange={(chosen) => onChange({ employeeId: chosen, day })}
          />
          <DayInput
            label={t('map.routeDay')}
            value={day}
            onChange={(chosen) => onChange({ employeeId, day: chosen })}
          />
        </div>
        {error && <FailureNote error={error} />}
        {data && (
          <Text size="sm" c="dimmed" mt="sm" role="status">
            {data.length === 0
              ? t('map.routeNone')
              : t('map.routeText', {
                  count: data.length,
                  formatted: formatNumber(data.length),
                  km: formatNumber(km, { maximumFractionDigits: km < 10 ? 1 : 0 }),
                })}
          </Text>
        )}
        {base && route.length > 0 && (
          <Text size="sm" c="dimmed">
            {t('map.routeStart', { start: startText(base) })}
          </Text>
        )}
        <ol className={classes.stops}>
          {stops.map((stop) => (
            <li key={stop.id}>
              <AnchorLink to={`/data/sites/${stop.id}`}>{stop.name}</AnchorLink>
              {stop.position === null && (
                <small> {t(stop.approximatePosition ? 'map.approximate' : 'record.noPosition')}</small>
              )}
            </li>
          ))}
        </ol>
      </Card>
    </div>
  );
}
