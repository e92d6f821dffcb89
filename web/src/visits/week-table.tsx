// The visits of a week: a row for each employee or place, a column for each day.
import { type CSSProperties, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { holidaysOf } from '../../../core/holidays.ts';
import { formatDay } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import { loadText } from './load-text.ts';
import { type Reassign, VisitCard } from './visit-card.tsx';
import { type Grouping, keyOf, type VisitGroup } from './visit-groups.ts';
import classes from './visits.module.css';

/** A holiday of all states, or one that visits know of. */
function holidayOf(day: string, groups: readonly VisitGroup[]): string | undefined {
  const visits = groups.flatMap((group) => group.visits);
  const known = visits.find(({ date, movedFrom, holiday }) => holiday && (movedFrom ?? date) === day);
  return holidaysOf('DE')(day)?.[currentLanguage()] ?? known?.holiday;
}

interface WeekTableProps {
  days: readonly string[];
  groups: readonly VisitGroup[];
  grouping: Grouping;
  onReassign: Reassign;
}

export function WeekTable({ days, groups, grouping, onReassign }: WeekTableProps) {
  const { t } = useTranslation();
  const [target, setTarget] = useState<string>();
  const isTarget = grouping === 'employee';
  return (
    // A wide table scrolls by keyboard, too.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling needs focus.
    <section className={`panel ${classes.scroll}`} tabIndex={0} aria-label={t('visits.week')}>
      <table className={classes.week} style={{ '--days': days.length } as CSSProperties}>
        <thead>
          <tr>
            <th scope="col">{t(`visits.by.${grouping}`)}</th>
            {days.map((day) => (
              <th key={day} scope="col">
                {formatDay(day, { weekday: 'short', day: 'numeric', month: 'numeric' })}
                {holidayOf(day, groups) && <span className={classes.holiday}>{holidayOf(day, groups)}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr
              key={group.key}
              data-target={target === group.key || undefined}
              onDragOver={(event) => {
                if (!isTarget) return;
                event.preventDefault();
                setTarget(group.key);
              }}
              onDragLeave={() => setTarget(undefined)}
              onDrop={(event) => {
                setTarget(undefined);
                const siteId = event.dataTransfer.getData('text/x-stamm-site');
                if (!isTarget || !siteId) return;
                event.preventDefault();
                void onReassign(siteId, group.key || undefined);
              }}
            >
              <th scope="row">
                {group.title}
                <span className={classes.load}>{loadText(group.visits, t)}</span>
              </th>
              {days.map((day) => {
                const visits = group.visits.filter(({ date }) => date === day);
                return (
                  <td key={day}>
                    {visits.length > 0 && <span className={classes.load}>{loadText(visits, t)}</span>}
                    <ul className={classes.visits}>
                      {visits.map((visit) => (
                        <VisitCard key={keyOf(visit)} visit={visit} onReassign={onReassign} />
                      ))}
                    </ul>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
