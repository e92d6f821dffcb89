// Previews the visits that an absence moves, by day, before it is saved.
import { Alert, Badge, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { fromDayNumber, toDayNumber } from '../../../core/calendar/calendar-days.ts';
import { fewQuery } from '../api/records.ts';
import { formatDay, formatNumber } from '../texts/format.ts';
import { type AbsenceDay, toAbsenceDays } from './absence-days.ts';
import { visitsQuery } from './visits-query.ts';

/** Maximum number of days in one request for visits. */
const maxDays = 92;

interface AbsencePreviewProps {
  from: string;
  until: string;
  employeeId: string;
  substituteEmployeeId: string | undefined;
}

export function AbsencePreview({ from, until, employeeId, substituteEmployeeId }: AbsencePreviewProps) {
  const { t } = useTranslation();
  const last = fromDayNumber(toDayNumber(from) + maxDays - 1);
  const end = until < last ? until : last;
  const people = [employeeId, substituteEmployeeId].filter(Boolean).join();
  const { data: visits } = useQuery(visitsQuery({ from, until: end, employeeId: people }));
  const { data: absences } = useQuery(
    fewQuery('absences', { employeeId: people, fromUntil: end, untilFrom: from }, 100),
  );
  if (!visits || !absences) return <Text size="sm">{t('visits.absence.looking')}</Text>;
  const periods = absences.data.map((absence) => ({
    employeeId: absence.employeeId,
    from: String(absence.from),
    until: String(absence.until),
  }));
  const days = toAbsenceDays(
    visits,
    { employeeId, substituteEmployeeId },
    periods.filter((period) => period.employeeId === substituteEmployeeId),
  );
  const isCovered = substituteEmployeeId !== undefined && days.every((day) => !day.isSubstituteAbsent);
  const count = days.reduce((sum, day) => sum + day.visits.length, 0);
  const own = periods.find((period) => period.employeeId === employeeId);
  return (
    <Alert
      color={isCovered || count === 0 ? 'leaf' : 'yellow'}
      title={t(substituteEmployeeId ? 'visits.absence.covered' : 'visits.absence.uncovered', { count })}
      aria-live="polite"
    >
      {own && (
        <Text size="sm" mb="xs">
          {t('visits.absence.already', { from: formatDay(own.from), until: formatDay(own.until) })}
        </Text>
      )}
      {days.length > 0 && (
        <Table.ScrollContainer minWidth={0} maxHeight={220}>
          <Table fz="sm" verticalSpacing={4}>
            <Table.Tbody>
              {days.map((day) => (
                <Day key={day.date} day={day} hasSubstitute={substituteEmployeeId !== undefined} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {end < until && <Text size="sm">{t('visits.absence.cut', { day: formatDay(end) })}</Text>}
    </Alert>
  );
}

function Day({ day, hasSubstitute }: { day: AbsenceDay; hasSubstitute: boolean }) {
  const { t } = useTranslation();
  const names = day.visits.map(({ site }) => site?.name).join(', ');
  const hours = formatNumber(day.minutes / 60, { maximumFractionDigits: 1 });
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500} style={{ whiteSpace: 'nowrap' }}>
        {formatDay(day.date, { weekday: 'short', day: 'numeric', month: 'numeric' })}
      </Table.Th>
      <Table.Td title={names}>
        {t('visits.count', { count: day.visits.length })}
        {hasSubstitute && day.minutes > 0 && !day.isSubstituteAbsent && (
          <Text size="xs" c="dimmed">
            {t('visits.absence.altogether', { hours })}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {day.isSubstituteAbsent && (
          <Badge size="sm" color="yellow">
            {t('visits.absence.substituteAbsent')}
          </Badge>
        )}
        {day.conflicts.map((conflict) => (
          <Badge key={conflict} size="sm" color="yellow">
            {t(`visits.conflicts.${conflict}`)}
          </Badge>
        ))}
      </Table.Td>
    </Table.Tr>
  );
}
