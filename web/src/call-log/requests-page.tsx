// The calls of other systems, and why some were rejected.
import { SegmentedControl } from '@mantine/core';
import { lazyRouteComponent, useNavigate, useSearch } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { useIsAdministrator } from '../api/session.ts';
import { NotAllowedPage } from '../frame/failure.tsx';
import { toSearch } from '../frame/links.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { ErrorGroups } from './error-groups.tsx';
import { HoursChart } from './hours-chart.tsx';
import { type Line, useLiveRequests } from './live.ts';
import { RequestFilters } from './request-filters.tsx';
import { RequestList } from './request-list.tsx';
import classes from './requests.module.css';
import { type Filters, filterNames, periods, startOf } from './requests.ts';

const RequestDetails = lazyRouteComponent(() => import('./request-details.tsx'), 'RequestDetails');

export function RequestsPage() {
  const isAdministrator = useIsAdministrator();
  if (!isAdministrator) return <NotAllowedPage />;
  return <Requests />;
}

function Requests() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as Filters & { days?: string; id?: string };
  const { line, arrived } = useLiveRequests();
  const period = periods.find((known) => known === search.days) ?? '7';
  const from = startOf(period);
  const filters: Filters = Object.fromEntries(
    filterNames.flatMap((name) => (search[name] ? [[name, search[name]]] : [])),
  );
  const change = (changes: Record<string, string | undefined>, replace = true) =>
    navigate({
      to: '/requests',
      search: toSearch((before: object) => ({ ...before, ...changes })),
      replace,
      resetScroll: false,
    });
  return (
    <div className={classes.page}>
      <PageHead
        title={t('requests.title')}
        text={t('requests.text')}
        badge={<LineMark line={line} />}
        actions={
          <SegmentedControl
            aria-label={t('requests.period')}
            value={period}
            onChange={(days) => change({ days: days === '7' ? undefined : days })}
            data={periods.map((value) => ({ value, label: t(`requests.periods.${value}`) }))}
          />
        }
      />
      <div className={classes.columns}>
        <HoursChart period={period} from={from} />
        <ErrorGroups from={from} onChoose={(chosen) => change({ ...chosen, status: undefined })} />
      </div>
      <RequestFilters filters={filters} onChange={change} />
      <RequestList filters={filters} from={from} arrived={arrived} onOpen={(id) => change({ id }, false)} />
      {search.id && (
        <Suspense>
          <RequestDetails key={search.id} id={search.id} onClose={() => change({ id: undefined })} />
        </Suspense>
      )}
    </div>
  );
}

function LineMark({ line }: { line: Line }) {
  const { t } = useTranslation();
  return (
    <span className={classes.line} data-line={line} role="status">
      {t(`requests.lines.${line}`)}
    </span>
  );
}
