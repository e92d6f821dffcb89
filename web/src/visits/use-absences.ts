// Who is absent on which of some days.
import { useQuery } from '@tanstack/react-query';
import { fewQuery } from '../api/records.ts';

/** Pflege may not read absences. */
export function useAbsences(isWanted: boolean, { from, until }: { from: string; until: string }) {
  const { data } = useQuery({
    ...fewQuery('absences', { fromUntil: until, untilFrom: from }, 500),
    enabled: isWanted,
  });
  return (employeeId: string, day: string) =>
    (data?.data ?? []).some(
      (absence) =>
        absence.employeeId === employeeId && String(absence.from) <= day && day <= String(absence.until),
    );
}
