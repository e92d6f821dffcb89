// Changes one visit and leaves the others: another day, time or employee, or none. What is agreed is an appointment.
import { Button, Group, Select, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { restore } from '../api/bin.ts';
import { call } from '../api/client.ts';
import { type Entity, useDefinition } from '../api/definitions.ts';
import { recordQuery, useForgetReadings } from '../api/records.ts';
import { FormDialog } from '../dialogs/form-dialog.tsx';
import { ReferencePicker } from '../forms/reference-picker.tsx';
import { tell } from '../frame/notices.tsx';
import { DayInput } from '../inputs/day-input.tsx';
import { TimeInput } from '../inputs/time-input.tsx';
import { useUndo } from '../records/use-undo.ts';
import { formatDay, isDay } from '../texts/format.ts';
import type { Visit } from './visits-query.ts';

interface DialogProps {
  visit: Visit;
  onClose: () => void;
}

/** An appointment that exists is read first: a visit does not tell whether its times are agreed. */
export function ExceptionDialog({ visit, onClose }: DialogProps) {
  const { data } = useQuery({
    ...recordQuery('appointments', visit.appointmentId ?? ''),
    enabled: visit.appointmentId !== undefined,
  });
  if (visit.appointmentId !== undefined && !data) return null;
  return <ExceptionForm visit={visit} appointment={data} onClose={onClose} />;
}

function ExceptionForm({ visit, appointment, onClose }: DialogProps & { appointment: Entity | undefined }) {
  const { t } = useTranslation();
  const { save, takeBack } = useExceptions(visit, appointment, onClose);
  const [date, setDate] = useState(visit.date);
  const [timeFrom, setTimeFrom] = useState(String(appointment?.timeFrom ?? ''));
  const [timeUntil, setTimeUntil] = useState(String(appointment?.timeUntil ?? ''));
  const [employeeId, setEmployeeId] = useState(visit.employee ? visit.employeeId : undefined);
  const [status, setStatus] = useState(appointment?.status === 'PROPOSED' ? 'PROPOSED' : 'CONFIRMED');
  const planned = visit.plannedDate ?? visit.movedFrom ?? visit.date;
  return (
    <FormDialog
      title={t('visits.once.title')}
      action={t('actions.save')}
      isDisabled={!isDay(date)}
      isPending={save.isPending || takeBack.isPending}
      error={save.error ?? takeBack.error}
      onClose={onClose}
      onSubmit={() => save.mutate({ date, timeFrom, timeUntil, employeeId, status })}
    >
      <Text size="sm">
        {t('visits.once.text', {
          name: visit.site?.name ?? '',
          day: formatDay(planned, { weekday: 'long', day: 'numeric', month: 'long' }),
        })}
      </Text>
      <Group align="flex-end" gap="sm">
        <DayInput w={150} label={t('visits.day')} value={date} onChange={setDate} data-autofocus />
        <TimeInput label={t('visits.once.from')} isLabelShown value={timeFrom} onChange={setTimeFrom} />
        <TimeInput label={t('visits.once.until')} isLabelShown value={timeUntil} onChange={setTimeUntil} />
      </Group>
      <ReferencePicker
        resources={['employee']}
        label={t('visits.employee')}
        value={employeeId}
        onChange={setEmployeeId}
      />
      <Select
        label={t('visits.once.status')}
        value={status}
        onChange={(next) => setStatus(next ?? 'CONFIRMED')}
        allowDeselect={false}
        data={['CONFIRMED', 'PROPOSED'].map((value) => ({
          value,
          label: t(`visits.appointmentStatus.${value as 'CONFIRMED' | 'PROPOSED'}`),
        }))}
      />
      <Group gap="sm">
        {visit.status !== 'CANCELLED' && (
          <Button
            variant="light"
            color="red"
            onClick={() => save.mutate({ date: visit.date, status: 'CANCELLED' })}
          >
            {t('visits.once.cancel')}
          </Button>
        )}
        {appointment && (
          <Button variant="light" color="gray" onClick={() => takeBack.mutate()}>
            {t('visits.once.takeBack')}
          </Button>
        )}
      </Group>
    </FormDialog>
  );
}

interface Agreed {
  date: string;
  timeFrom?: string;
  timeUntil?: string;
  employeeId?: string | undefined;
  status: string;
}

function useExceptions(visit: Visit, appointment: Entity | undefined, onClose: () => void) {
  const { t } = useTranslation();
  const definition = useDefinition('appointments')!;
  const forgetReadings = useForgetReadings();
  const { tellCreated, tellSaved } = useUndo();
  const path = `/appointments/${appointment?.id}`;
  const who = visit.site?.name ?? '';

  function textOf({ date, timeFrom, status }: Omit<Agreed, 'employeeId'>): string {
    if (status === 'CANCELLED') return `${who}: ${t('visits.cancelled')}`;
    const day = formatDay(date, { weekday: 'short', day: 'numeric', month: 'numeric' });
    return t('visits.move.done.once', { who, what: [day, timeFrom].filter(Boolean).join(', ') });
  }

  const save = useMutation({
    mutationFn: async ({ employeeId, ...agreed }: Agreed) => {
      // An employee who is not changed stays that of the site, or the substitute.
      const changed = employeeId === visit.employeeId ? {} : { employeeId: employeeId ?? null };
      const isCancelled = agreed.status === 'CANCELLED';
      const body = isCancelled ? agreed : { ...withNulls(agreed), ...changed };
      if (appointment) {
        const after = await call<Entity>('PATCH', path, { body, version: appointment.version });
        tellSaved(definition, appointment, after);
      } else {
        const plannedDate = visit.movedFrom ?? visit.date;
        const sent = withoutNulls({ siteId: visit.siteId, plannedDate, ...body });
        const { id } = await call<{ id: string }>('POST', definition.path, { body: sent });
        tellCreated(definition, id, textOf(agreed));
      }
      await forgetReadings();
      onClose();
    },
  });

  const takeBack = useMutation({
    mutationFn: async () => {
      await call('DELETE', path, { version: appointment!.version });
      await forgetReadings();
      tell(t('visits.once.takenBack'), {
        label: t('undo.undo'),
        run: async () => {
          await restore(definition, appointment!.id);
          await forgetReadings();
        },
      });
      onClose();
    },
  });
  return { save, takeBack };
}

/** An empty time is none. */
function withNulls(agreed: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(agreed).map(([name, value]) => [name, value === '' ? null : value]),
  );
}

function withoutNulls(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
