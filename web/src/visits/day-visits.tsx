// The visits of one day, as cards by employee or by place. People with many visits are folded.
import { Text, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { Icon } from '../icons.tsx';
import { formatDay } from '../texts/format.ts';
import { useSumText } from './board/board-cells.tsx';
import type { Sum } from './board/board-data.ts';
import { loadText } from './load-text.ts';
import { VisitCard } from './visit-card.tsx';
import { type Grouping, groupVisits, keyOf, type VisitGroup } from './visit-groups.ts';
import classes from './visits.module.css';
import { type VisitFilters, visitsQuery } from './visits-query.ts';

/** More cards are folded, because nobody reads such a list. */
const fewVisits = 30;

function longDay(date: string): string {
  return formatDay(date, { weekday: 'long', day: 'numeric', month: 'long' });
}

interface DayVisitsProps {
  date: string;
  filters: VisitFilters;
  grouping: Grouping;
  headingId: string;
}

function DayGroups({ date, filters, grouping, headingId }: DayVisitsProps) {
  const { t } = useTranslation();
  const { data: visits, error, refetch } = useQuery(visitsQuery({ ...filters, from: date, until: date }));
  if (error) return <FailureNote error={error} onRetry={() => refetch()} />;
  if (!visits) return <Lines count={4} />;
  return (
    <div className={classes.groups}>
      {groupVisits(visits, grouping, [], t('visits.nobody')).map((group) => (
        <DayGroup key={group.key} group={group} headingId={headingId} isFolded={visits.length > fewVisits} />
      ))}
    </div>
  );
}

function DayGroup({
  group,
  headingId,
  isFolded,
}: {
  group: VisitGroup;
  headingId: string;
  isFolded: boolean;
}) {
  const { t } = useTranslation();
  const [isOpen, setIsOpen] = useState(!isFolded);
  const load = <Text size="sm">{loadText(group.visits, t)}</Text>;
  const title = isFolded ? (
    <UnstyledButton className={classes.fold} aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
      <Icon name="right" size={16} />
      {group.title}
    </UnstyledButton>
  ) : (
    group.title
  );
  return (
    <Card title={title} headingId={headingId} actions={load}>
      {isOpen && (
        <ul className={classes.visits}>
          {group.visits.map((visit) => (
            <VisitCard key={keyOf(visit)} visit={visit} />
          ))}
        </ul>
      )}
    </Card>
  );
}

/** Shows one day, which is always open. */
export function DayVisits(props: Omit<DayVisitsProps, 'headingId'>) {
  const headingId = useId();
  return (
    <div className={classes.day}>
      <h2 id={headingId}>{longDay(props.date)}</h2>
      <DayGroups {...props} headingId={headingId} />
    </div>
  );
}

/** A day of the list on a phone: its sum, and its visits once somebody opens it. */
export function FoldedDay({
  sum,
  isFirst,
  ...props
}: Omit<DayVisitsProps, 'headingId'> & { sum: Sum; isFirst: boolean }) {
  const headingId = useId();
  const textOf = useSumText();
  const [isOpen, setIsOpen] = useState(isFirst);
  return (
    <div className={classes.day}>
      <h2 id={headingId}>
        <UnstyledButton className={classes.fold} aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          <Icon name="right" size={16} />
          <span>{longDay(props.date)}</span>
          <Text size="sm">{textOf(sum)}</Text>
        </UnstyledButton>
      </h2>
      {isOpen && <DayGroups {...props} headingId={headingId} />}
    </div>
  );
}
