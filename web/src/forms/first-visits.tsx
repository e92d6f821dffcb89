// The first visits of an interval that somebody types. The module loads when there is one: most forms plan nothing.
import { useTranslation } from 'react-i18next';
import { todayIn } from '../../../core/calendar/calendar-days.ts';
import type { AttendingInterval } from '../../../core/calendar/visits.ts';
import { runNow } from '../../../core/pace.ts';
import { formatDay } from '../texts/format.ts';
import { nextVisitsOf } from '../visits/site-plan.ts';

export function FirstVisits({ interval }: { interval: AttendingInterval }) {
  const { t } = useTranslation();
  const today = todayIn(undefined);
  const site = { attendingIntervals: [interval], createdAt: today };
  const visits = runNow(nextVisitsOf(site, { holidayRule: 'KEEP', from: today, count: 3 }));
  const days = visits.map(({ date }) =>
    formatDay(date, { weekday: 'short', day: 'numeric', month: 'short' }),
  );
  return days.length === 0 ? null : t('form.firstVisits', { days: days.join(' · ') });
}
