// The calls, newest first; those that arrive meanwhile come on top.
import { Badge, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useDefinitions } from '../api/definitions.ts';
import { EmptyNote, FailureNote } from '../frame/failure.tsx';
import { ButtonLink, toSearch } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { MoreButton } from '../inputs/more-button.tsx';
import { formatNumber, formatTime, locale } from '../texts/format.ts';
import classes from './requests.module.css';
import { definitionAt, type Filters, fieldTitle, type RecordedRequest, requestsQuery } from './requests.ts';

interface RequestListProps {
  filters: Filters;
  from: string;
  arrived: readonly RecordedRequest[];
  onOpen: (id: string) => void;
}

export function RequestList({ filters, from, arrived, onOpen }: RequestListProps) {
  const { t } = useTranslation();
  const list = useInfiniteQuery(requestsQuery(filters, from));
  const listed = list.data?.pages.flatMap((page) => page.data) ?? [];
  const known = new Set(listed.map(({ id }) => id));
  const news = arrived.filter(
    (request) => !known.has(request.id) && request.at >= from && isWanted(request, filters),
  );
  const requests = [...news, ...listed].sort((one, other) => (one.id < other.id ? 1 : -1));
  const isNarrowed = Object.values(filters).some(Boolean);
  if (list.error) return <FailureNote error={list.error} onRetry={() => list.refetch()} />;
  if (list.isPending) return <Lines count={10} height={26} />;
  if (requests.length === 0)
    return (
      <div className="panel">
        {isNarrowed ? (
          <EmptyNote icon="search" title={t('table.none')} text={t('table.noneText')} />
        ) : (
          <EmptyNote icon="requests" title={t('requests.noneYet')} text={t('requests.noneYetText')}>
            <ButtonLink to="/settings/api" variant="light" mt="sm">
              {t('requests.toKey')}
            </ButtonLink>
          </EmptyNote>
        )}
      </div>
    );
  return (
    <>
      <div className={`panel ${classes.listBox}`}>
        <table className={classes.list} data-stale={list.isPlaceholderData || undefined}>
          <thead>
            <tr>
              <th scope="col" className={classes.wideOnly}>
                {t('requests.time')}
              </th>
              <th scope="col">{t('requests.call')}</th>
              <th scope="col">{t('requests.answer')}</th>
              <th scope="col" className={classes.wideOnly} data-number>
                {t('requests.duration')}
              </th>
              <th scope="col" className={classes.widestOnly}>
                {t('requests.userAgent')}
              </th>
            </tr>
          </thead>
          <tbody>
            {requests.map((request) => (
              <Row key={request.id} request={request} isNew={!known.has(request.id)} onOpen={onOpen} />
            ))}
          </tbody>
        </table>
      </div>
      <MoreButton list={list} />
    </>
  );
}

interface RowProps {
  request: RecordedRequest;
  isNew: boolean;
  onOpen: (id: string) => void;
}

function Row({ request, isNew, onOpen }: RowProps) {
  const { t } = useTranslation();
  const definition = definitionAt(useDefinitions(), request.path);
  const fields = [
    ...new Set(request.errors.map(({ field }) => fieldTitle(definition, field)).filter(Boolean)),
  ];
  const time = new Date(request.at).toLocaleString(locale(), { dateStyle: 'short', timeStyle: 'medium' });
  return (
    <tr className={classes.row} data-new={isNew || undefined} onClick={() => onOpen(request.id)}>
      <td className={`${classes.wideOnly} numbers`} title={formatTime(request.at)}>
        {time}
      </td>
      <th scope="row">
        <Link
          to="."
          search={toSearch((before: object) => ({ ...before, id: request.id }))}
          className={classes.call}
          onClick={(event) => event.stopPropagation()}
        >
          <span className={classes.method}>{request.method}</span> {request.path}
        </Link>
        <span className={classes.narrowOnly}>{time}</span>
      </th>
      <td>
        <StatusMark status={request.status} />
        {request.isCorrected && (
          <Badge color="leaf" variant="light" ml={6} miw="max-content">
            {t('requests.corrected')}
          </Badge>
        )}
        {fields.length > 0 && (
          <Text size="xs" c="dimmed" component="span" className={classes.hint}>
            {fields.join(', ')}
          </Text>
        )}
        {fields.length === 0 && request.code && (
          <Text size="xs" c="dimmed" component="span" className={classes.hint}>
            {request.message ?? request.code}
          </Text>
        )}
        {request.status < 400 && request.ignoredFields.length > 0 && (
          <Text size="xs" c="dimmed" component="span" className={classes.hint}>
            {t('requests.ignoredCount', { count: request.ignoredFields.length })}
          </Text>
        )}
      </td>
      <td className={`${classes.wideOnly} numbers`} data-number>
        {formatNumber(request.durationMs, { maximumFractionDigits: 0 })} ms
      </td>
      <td className={classes.widestOnly}>{request.userAgent || '–'}</td>
    </tr>
  );
}

export function StatusMark({ status }: { status: number }) {
  const color = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'leaf';
  return (
    <Badge color={color} className="numbers" miw="max-content">
      {status}
    </Badge>
  );
}

/** Whether the service would find the call with these filters. */
function isWanted(request: RecordedRequest, { status, method, path, field, code }: Filters): boolean {
  const isRefused = request.status >= 400 && request.status < 500;
  const states = [
    request.status >= 500 ? 'failed' : isRefused ? 'refused' : 'ok',
    request.isCorrected ? 'done' : isRefused && 'open',
  ];
  return (
    (!status || states.includes(status)) &&
    (!method || method.toUpperCase() === request.method) &&
    (!path || request.path.toLowerCase().includes(path.toLowerCase())) &&
    (!field || request.errors.some((error) => error.field === field)) &&
    (!code || request.code === code || request.errors.some((error) => error.code === code))
  );
}
