// The most frequent errors by field: those an integration should fix first.
import { Badge, Text, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDefinitions } from '../api/definitions.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { fieldErrorText } from '../inputs/field-error-text.ts';
import { formatAgo, formatNumber } from '../texts/format.ts';
import classes from './requests.module.css';
import { definitionAt, type ErrorGroup, type Filters, fieldAt, fieldTitle, groupsQuery } from './requests.ts';

interface ErrorGroupsProps {
  from: string;
  onChoose: (filters: Filters) => void;
}

const shownAtFirst = 5;

export function ErrorGroups({ from, onChoose }: ErrorGroupsProps) {
  const { t } = useTranslation();
  const [isAll, setIsAll] = useState(false);
  const { data, error, refetch } = useQuery(groupsQuery(from));
  const groups = data?.data ?? [];
  return (
    <Card title={t('requests.groups')} icon="attention">
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines count={5} />}
      {data && groups.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('requests.groupsNone')}
        </Text>
      )}
      <ul className={classes.groups}>
        {groups.slice(0, isAll ? undefined : shownAtFirst).map((group) => (
          <li key={`${group.method} ${group.path} ${group.field} ${group.code}`}>
            <Group group={group} onChoose={onChoose} />
          </li>
        ))}
      </ul>
      {!isAll && groups.length > shownAtFirst && (
        <UnstyledButton className={classes.more} onClick={() => setIsAll(true)}>
          {t('requests.groupsAll', { count: groups.length })}
        </UnstyledButton>
      )}
    </Card>
  );
}

function Group({ group, onChoose }: { group: ErrorGroup; onChoose: (filters: Filters) => void }) {
  const { t } = useTranslation();
  const { method, path, field, code, message, params, count, lastAt } = group;
  const definition = definitionAt(useDefinitions(), path);
  const explanation =
    field === null
      ? (message ?? code)
      : fieldErrorText(
          fieldAt(definition, field),
          { code: code ?? '', message: message ?? '', params },
          definition,
        );
  return (
    <UnstyledButton
      className={classes.group}
      onClick={() =>
        onChoose({
          method,
          // A parameter of a route is no part of a path.
          path: path.split('/:')[0],
          field: field ?? undefined,
          code: code ?? undefined,
        })
      }
    >
      <Badge color="yellow" miw="max-content" className="numbers">
        {formatNumber(count)} ×
      </Badge>
      <span className={classes.words}>
        <Text size="sm" component="span">
          {field && <strong>{fieldTitle(definition, field)}: </strong>}
          {explanation}
        </Text>
        <Text size="xs" c="dimmed" component="span" className={classes.breakable}>
          {method} {path} · {t('requests.last', { ago: formatAgo(lastAt) })}
        </Text>
      </span>
    </UnstyledButton>
  );
}
