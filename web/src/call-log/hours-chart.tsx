// Requests and refusals per hour, as bars and as a table.
import { Button, Group, Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { formatNumber, locale } from '../texts/format.ts';
import { axisTop, type Bucket, toBuckets } from './hour-buckets.ts';
import classes from './requests.module.css';
import { hoursQuery, type Period } from './requests.ts';

export function HoursChart({ period, from }: { period: Period; from: string }) {
  const { t } = useTranslation();
  const [isTable, setIsTable] = useState(false);
  const { data, error, refetch } = useQuery(hoursQuery(from));
  const isDaily = period === '30';
  const buckets = toBuckets(data?.data ?? [], new Date(from), new Date(), isDaily);
  const unrecorded = (data?.data ?? []).reduce((sum, hour) => sum + hour.unrecorded, 0);
  return (
    <Card
      title={t(isDaily ? 'requests.perDay' : 'requests.perHour')}
      icon="requests"
      actions={
        <Button
          size="compact-sm"
          variant="subtle"
          aria-pressed={isTable}
          onClick={() => setIsTable(!isTable)}
        >
          {t(isTable ? 'requests.asChart' : 'requests.asTable')}
        </Button>
      }
    >
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines count={9} />}
      {data &&
        (isTable ? (
          <CountTable buckets={buckets} isDaily={isDaily} />
        ) : (
          <Bars buckets={buckets} isDaily={isDaily} />
        ))}
      {unrecorded > 0 && (
        <Text size="xs" c="dimmed" mt="xs">
          {t('requests.unrecorded', { count: unrecorded, formatted: formatNumber(unrecorded) })}
        </Text>
      )}
    </Card>
  );
}

const height = 210;
const axisWidth = 44;
const axisHeight = 22;
const tickWidth = 48;
const kinds = ['fine', 'refusals', 'failures'] as const;

function Bars({ buckets, isDaily }: { buckets: readonly Bucket[]; isDaily: boolean }) {
  const { t } = useTranslation();
  const { ref, width } = useElementSize();
  const [active, setActive] = useState<number>();
  const top = axisTop(Math.max(0, ...buckets.map(({ requests }) => requests)));
  const inner = Math.max(width - axisWidth, 1);
  const step = inner / Math.max(buckets.length, 1);
  const scale = (count: number) => (count / top) * (height - 8);
  const sum = (name: 'requests' | 'refusals' | 'failures') =>
    buckets.reduce((total, bucket) => total + bucket[name], 0);
  const shown = active === undefined ? undefined : buckets[active];
  return (
    <div ref={ref}>
      <Group justify="space-between" gap="xs" mb={6} mih={22}>
        <Text size="sm" className="numbers" aria-hidden="true">
          {shown ? (
            <>
              <strong>{periodText(shown, isDaily)}</strong>
              {' · '}
              {countsText(shown, t)}
            </>
          ) : (
            countsText({ requests: sum('requests'), refusals: sum('refusals'), failures: sum('failures') }, t)
          )}
        </Text>
        <Group gap="sm" className={classes.legend}>
          {kinds.map((kind) => (
            <span key={kind} data-kind={kind}>
              {t(`requests.kinds.${kind}`)}
            </span>
          ))}
        </Group>
      </Group>
      <svg
        className={classes.chart}
        width="100%"
        height={height + axisHeight}
        role="img"
        aria-label={t('requests.chart', {
          counts: countsText(
            { requests: sum('requests'), refusals: sum('refusals'), failures: sum('failures') },
            t,
          ),
        })}
        onPointerLeave={() => setActive(undefined)}
        onPointerMove={({ clientX, currentTarget }) => {
          const x = clientX - currentTarget.getBoundingClientRect().left - axisWidth;
          const index = Math.floor(x / step);
          setActive(index >= 0 && index < buckets.length ? index : undefined);
        }}
      >
        {[0, 0.5, 1].map((share) => (
          <g key={share} transform={`translate(0 ${height - scale(top * share)})`}>
            <line x1={axisWidth} x2={width} className={classes.gridLine} />
            <text x={axisWidth - 8} dy="0.32em" textAnchor="end">
              {formatNumber(top * share, { notation: top >= 10_000 ? 'compact' : 'standard' })}
            </text>
          </g>
        ))}
        {active !== undefined && (
          <rect
            x={axisWidth + active * step}
            y={0}
            width={step}
            height={height}
            className={classes.activeBar}
          />
        )}
        {buckets.map((bucket, index) => (
          <Bar
            key={bucket.start.getTime()}
            bucket={bucket}
            x={axisWidth + index * step}
            width={Math.max(step - Math.min(2, step * 0.25), 0.8)}
            scale={scale}
          />
        ))}
        {tickIndexes(buckets, isDaily, Math.max(2, Math.floor(inner / 90)))
          .filter((index) => index * step < inner - tickWidth)
          .map((index) => (
            <text key={index} x={axisWidth + index * step} y={height + 16}>
              {tickText(buckets[index]!, isDaily || buckets.length > 48)}
            </text>
          ))}
      </svg>
    </div>
  );
}

interface BarProps {
  bucket: Bucket;
  x: number;
  width: number;
  scale: (count: number) => number;
}

function Bar({ bucket, x, width, scale }: BarProps) {
  const { requests, refusals, failures } = bucket;
  if (requests === 0) return null;
  const fine = Math.max(requests - refusals - failures, 0);
  // Failures never become too small to see.
  const heights = [
    scale(fine),
    refusals && Math.max(scale(refusals), 2),
    failures && Math.max(scale(failures), 2),
  ];
  let y = height;
  return kinds.map((kind, index) => {
    const part = heights[index]!;
    y -= part;
    return part > 0 && <rect key={kind} x={x} y={y} width={width} height={part} data-kind={kind} />;
  });
}

/** Ticks of the axis: at midnights, or at hours of one day. */
function tickIndexes(buckets: readonly Bucket[], isDaily: boolean, most: number): number[] {
  const days = buckets.flatMap(({ start }, index) => (isDaily || start.getHours() === 0 ? [index] : []));
  const candidates = buckets.length <= 48 && !isDaily ? buckets.map((_, index) => index) : days;
  const every = Math.ceil(candidates.length / most);
  return candidates.filter((_, index) => index % every === 0);
}

function tickText({ start }: Bucket, isDay: boolean): string {
  return start.toLocaleString(
    locale(),
    isDay ? { day: 'numeric', month: 'short' } : { hour: '2-digit', minute: '2-digit' },
  );
}

function periodText({ start, end }: Bucket, isDaily: boolean): string {
  const day = start.toLocaleDateString(locale(), { weekday: 'short', day: 'numeric', month: 'short' });
  const time = (moment: Date) => moment.toLocaleTimeString(locale(), { hour: '2-digit', minute: '2-digit' });
  return isDaily ? day : `${day}, ${time(start)}–${time(end)}`;
}

function countsText(
  { requests, refusals, failures }: Pick<Bucket, 'requests' | 'refusals' | 'failures'>,
  t: TFunction,
): string {
  return [
    t('requests.count', { count: requests, formatted: formatNumber(requests) }),
    refusals > 0 && t('requests.refusedCount', { formatted: formatNumber(refusals) }),
    failures > 0 && t('requests.failedCount', { formatted: formatNumber(failures) }),
  ]
    .filter(Boolean)
    .join(', ');
}

function CountTable({ buckets, isDaily }: { buckets: readonly Bucket[]; isDaily: boolean }) {
  const { t } = useTranslation();
  const filled = buckets.filter(({ requests }) => requests > 0).toReversed();
  if (filled.length === 0) return <Text size="sm">{t('requests.noneYet')}</Text>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section className={classes.countTable} tabIndex={0} aria-label={t('requests.asTable')}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('requests.time')}</th>
            <th scope="col">{t('requests.title')}</th>
            <th scope="col">{t('requests.kinds.refusals')}</th>
            <th scope="col">{t('requests.kinds.failures')}</th>
          </tr>
        </thead>
        <tbody className="numbers">
          {filled.map((bucket) => (
            <tr key={bucket.start.getTime()}>
              <th scope="row">{periodText(bucket, isDaily)}</th>
              <td>{formatNumber(bucket.requests)}</td>
              <td>{formatNumber(bucket.refusals)}</td>
              <td>{formatNumber(bucket.failures)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
