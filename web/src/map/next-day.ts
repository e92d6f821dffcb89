// The day of a site's next visit.
import { queryOptions } from '@tanstack/react-query';
import { fromDayNumber, toDayNumber, todayIn } from '../../../core/calendar/calendar-days.ts';
import { takesPlace, type VisitStatus } from '../../../core/calendar/visit-status.ts';
import { call, queryString } from '../api/client.ts';

const lookAheadDays = 90;

export function nextDayQuery(siteId: string | undefined) {
  return queryOptions({
    queryKey: ['next-day', siteId],
    queryFn: async ({ signal }) => {
      const from = todayIn(undefined);
      const until = fromDayNumber(toDayNumber(from) + lookAheadDays);
      const visits = await call<{ data: { date: string; status: VisitStatus }[] }>(
        'GET',
        `/visits${queryString({ siteId, from, until, limit: 10 })}`,
        { signal },
      );
      return visits.data.find(({ status }) => takesPlace(status))?.date ?? null;
    },
    enabled: siteId !== undefined,
    staleTime: 60_000,
  });
}
