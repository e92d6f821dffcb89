// "Audit": who signed in, changed keys or people, exported or erased data.
import { Button, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { queryString } from '../../api/client.ts';
import { useDefinitions } from '../../api/definitions.ts';
import { EmptyNote, FailureNote } from '../../frame/failure.tsx';
import { toSearch } from '../../frame/links.tsx';
import { Lines } from '../../frame/loading.tsx';
import { PageHead } from '../../frame/page-head.tsx';
import { Icon } from '../../icons.tsx';
import { MoreButton } from '../../inputs/more-button.tsx';
import { Actor } from '../../records/actor.tsx';
import { formatTime, locale } from '../../texts/format.ts';
import { currentLanguage } from '../../texts/language.ts';
import classes from './audit.module.css';
import { type AuditEntry, auditQuery, type Filters, filterNames, toParameters } from './audit.ts';
import { describeDetails, subjectText } from './audit-details.ts';
import { AuditFilters } from './audit-filters.tsx';

export function AuditPage() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as Filters;
  const filters: Filters = Object.fromEntries(
    filterNames.flatMap((name) => (search[name] ? [[name, search[name]]] : [])),
  );
  const change = (changes: Filters) =>
    navigate({
      to: '/settings/audit',
      search: toSearch((before: object) => ({ ...before, ...changes })),
      replace: true,
      resetScroll: false,
    });
  return (
    <>
      <PageHead
        title={t('audit.title')}
        text={t('audit.text')}
        actions={
          <Button
            component="a"
            href={`/app/audit.csv${queryString({ ...toParameters(filters), locale: currentLanguage() })}`}
            download
            variant="default"
            leftSection={<Icon name="download" size={16} />}
          >
            {t('audit.export')}
          </Button>
        }
      />
      <AuditFilters filters={filters} onChange={change} />
      <Entries filters={filters} />
    </>
  );
}

function Entries({ filters }: { filters: Filters }) {
  const { t } = useTranslation();
  const list = useInfiniteQuery(auditQuery(filters));
  const entries = list.data?.pages.flatMap((page) => page.data) ?? [];
  if (list.error) return <FailureNote error={list.error} onRetry={() => list.refetch()} />;
  if (list.isPending) return <Lines count={10} height={26} />;
  if (entries.length === 0)
    return (
      <div className="panel">
        <EmptyNote icon="history" title={t('audit.none')} text={t('audit.noneText')} />
      </div>
    );
  return (
    <>
      <div className={`panel ${classes.box}`}>
        <table className={classes.list} data-stale={list.isPlaceholderData || undefined}>
          <thead>
            <tr>
              {(['time', 'event', 'actor', 'subject', 'address'] as const).map((name) => (
                <th key={name} scope="col" className={classes[name]}>
                  {t(`audit.${name}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {entries.map((entry) => (
              <Entry key={entry.id} entry={entry} />
            ))}
          </tbody>
        </table>
      </div>
      <MoreButton list={list} />
    </>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  const { t } = useTranslation();
  const definitions = useDefinitions();
  const details = describeDetails(entry.details ?? {}, definitions, t);
  const subject = (
    <>
      {subjectText(entry, t) ?? (entry.subjectId && <code className={classes.id}>{entry.subjectId}</code>)}
      {details.map((line) => (
        <Text key={line} size="xs" c="dimmed">
          {line}
        </Text>
      ))}
    </>
  );
  return (
    <tr>
      <td className={`${classes.time} numbers`} title={formatTime(entry.at)}>
        {new Date(entry.at).toLocaleString(locale(), { dateStyle: 'short', timeStyle: 'medium' })}
      </td>
      <th scope="row">
        {entry.title}
        <div className={classes.below}>{subject}</div>
      </th>
      <td className={classes.actor}>
        <Actor names={entry} />
      </td>
      <td className={classes.subject}>{subject}</td>
      <td className={classes.address} title={entry.userAgent ?? undefined}>
        {entry.address ?? '–'}
      </td>
    </tr>
  );
}
