// The days of the week with their holidays and sums.
import { useTranslation } from 'react-i18next';
import { holidaysOf } from '../../../../core/calendar/holidays.ts';
import { formatDay } from '../../texts/format.ts';
import { currentLanguage } from '../../texts/language.ts';
import { countText } from '../load-text.ts';
import classes from './board.module.css';
import { addSums, type Sums, sumOn } from './board-data.ts';
import type { Person } from './board-rows.ts';

interface BoardHeadProps {
  days: readonly string[];
  today: string;
  people: readonly Person[];
  sums: Sums;
}

export function BoardHead({ days, today, people, sums }: BoardHeadProps) {
  const { t } = useTranslation();
  return (
    <div role="row" aria-rowindex={1} className={classes.head}>
      <div role="columnheader" className={classes.first}>
        {t('visits.by.employee')}
      </div>
      {days.map((day) => (
        <div
          key={day}
          role="columnheader"
          data-today={day === today || undefined}
          aria-current={day === today ? 'date' : undefined}
        >
          <span>{formatDay(day, { weekday: 'short', day: 'numeric', month: 'numeric' })}</span>
          <small>
            {holidaysOf('DE')(day)?.[currentLanguage()] ??
              countText(addSums(people.map(({ id }) => sumOn(sums, id, day))), t)}
          </small>
        </div>
      ))}
    </div>
  );
}
