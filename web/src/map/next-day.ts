// The day of a site's next visit.
import { queryOptions } from '@tanstack/react-query';
import { fromDayNumber, toDayNumber, todayIn } from '../../../core/calendar/calendar-days.ts';
import { takesPlace, type VisitStatus } from '../../../core/calendar/visit-status.ts';
import { call, queryString } from '../api/client.ts';

const lookAheadDays = 90;

interface VisitPage {
  data: { date: string; status: VisitStatus }[];
  nextCursor: string | null;
}

export function nextDayQuery(siteId: string | undefined) {
  return queryOptions({
    queryKey: ['next-day', siteId],
    queryFn: async ({ signal }) => {
      const from = todayIn(undefined);
      const until = fromDayNumber(toDayNumber(from) + lookAheadDays);
      let cursor: string | undefined;
      do {
        const path = `/visits${queryString({ siteId, from, until, limit: 10, cursor })}`;
        const page = await call<VisitPage>('GET', path, { signal });
        const next = page.data.find(({ status }) => takesPlace(status));
        if (next) return next.date;
        cursor = page.nextCursor ?? undefined;
      } while (cursor);
      return null;
    },
    enabled: siteId !== undefined,
    staleTime: 60_000,
  });
}
