// The cells of the board: the sum of a person's day with its load, and a visit in one line.
import type { HTMLAttributes } from 'react';
import { useTranslation } from 'react-i18next';
import { longestDayInMinutes } from '../../../../core/calendar/day-load.ts';
import { Icon } from '../../icons.tsx';
import { formatDay, formatNumber } from '../../texts/format.ts';
import { countText } from '../load-text.ts';
import { isTakingPlace } from '../visit-groups.ts';
import { windowTexts } from '../visit-times.ts';
import type { Visit } from '../visits-query.ts';
import classes from './board.module.css';
import type { Sum } from './board-data.ts';

const usualDayInMinutes = 480;

function useSumParts() {
  const { t } = useTranslation();
  return (sum: Sum) => ({
    count: countText(sum, t),
    hours:
      sum.minutes > 0 &&
      t('visits.hours', { hours: formatNumber(sum.minutes / 60, { maximumFractionDigits: 1 }) }),
  });
}

export function useSumText() {
  const partsOf = useSumParts();
  return (sum: Sum) => {
    const { count, hours } = partsOf(sum);
    return hours ? `${count} · ${hours}` : count;
  };
}

export function SumCell({ sum, isAbsent }: { sum: Sum; isAbsent: boolean }) {
  const { t } = useTranslation();
  const partsOf = useSumParts();
  const { minutes, listed } = sum;
  const { count, hours } = partsOf(sum);
  const load = minutes > longestDayInMinutes ? 'too-much' : minutes > usualDayInMinutes ? 'much' : undefined;
  return (
    <>
      {listed > 0 && (
        <span className={classes.sum}>
          {count}
          {hours && <span> · </span>}
          <span>{hours}</span>
        </span>
      )}
      {isAbsent && <span className={classes.absent}>{t('visits.board.absent')}</span>}
      {minutes > 0 && (
        <span className={classes.bar} data-load={load}>
          <span style={{ width: `${Math.min(100, (minutes / longestDayInMinutes) * 100)}%` }} />
        </span>
      )}
    </>
  );
}

/** "09:00" or nothing: a window of the whole opening hours is no time to remember. */
function timeOf(visit: Visit): string {
  const [first] = visit.windows;
  return first && first.from !== '00:00' ? first.from : '';
}

type CellProps = HTMLAttributes<HTMLDivElement> & { visit: Visit; isSelected: boolean; isActive: boolean };

export function VisitLine({ visit, isSelected, isActive, ...cell }: CellProps) {
  const { t } = useTranslation();
  const { site, status } = visit;
  // The row of nobody says so.
  const conflicts = visit.conflicts.filter((conflict) => conflict !== 'no_employee' || visit.employee);
  const marks = conflicts.map((conflict) => t(`visits.conflicts.${conflict}`)).join(', ');
  const state = stateOf(visit, t('visits.cancelled'), t('visits.board.skipped'));
  const shown = [timeOf(visit), site?.name, site?.address.city].filter(Boolean).join(' ');
  const words = [shown, visit.customer?.companyName, windowTexts(visit).join(', '), state, marks].filter(
    Boolean,
  );
  return (
    <div
      {...cell}
      role="gridcell"
      tabIndex={isActive ? 0 : -1}
      aria-selected={isSelected}
      aria-label={`${words.join(', ')}, ${formatDay(visit.date, { weekday: 'long', day: 'numeric', month: 'long' })}`}
      className={classes.cell}
    >
      <span
        className={classes.line}
        data-off={!isTakingPlace(visit) || undefined}
        data-agreed={status === 'APPOINTMENT' || undefined}
        data-selected={isSelected || undefined}
        title={words.join(' · ')}
      >
        {timeOf(visit) && <span className={classes.time}>{timeOf(visit)}</span>}{' '}
        <span className={classes.name} lang="de">
          {site?.name}
        </span>{' '}
        <span className={classes.town} lang="de">
          {site?.address.city}
        </span>
        {conflicts.length > 0 && <Icon name="warning" size={13} />}
      </span>
    </div>
  );
}

function stateOf({ status }: Visit, cancelled: string, skipped: string): string | undefined {
  if (status === 'CANCELLED') return cancelled;
  return status === 'SKIPPED' ? skipped : undefined;
}
