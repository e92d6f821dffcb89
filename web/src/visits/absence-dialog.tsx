// "Nils, three weeks, Merle covers": shows whose visits go where before anything is saved.
import { Group, Select } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { titleOf, useDefinition } from '../api/definitions.ts';
import { useReadName } from '../api/named.ts';
import { useForgetReadings } from '../api/records.ts';
import { FormDialog } from '../dialogs/form-dialog.tsx';
import { ReferencePicker } from '../forms/reference-picker.tsx';
import { AnchorLink } from '../frame/links.tsx';
import { tell } from '../frame/notices.tsx';
import { DayInput } from '../inputs/day-input.tsx';
import { formatDay, isDay } from '../texts/format.ts';
import { AbsencePreview } from './absence-preview.tsx';

interface AbsenceDialogProps {
  employeeId: string | undefined;
  day: string;
  onClose: () => void;
}

export function AbsenceDialog({ employeeId: first, day, onClose }: AbsenceDialogProps) {
  const { t } = useTranslation();
  const definition = useDefinition('absences')!;
  const forgetReadings = useForgetReadings();
  const [employeeId, setEmployeeId] = useState(first);
  const [from, setFrom] = useState(day);
  const [until, setUntil] = useState(day);
  const [substituteEmployeeId, setSubstitute] = useState<string>();
  const [reason, setReason] = useState<string | null>('HOLIDAY');
  const readEmployee = useReadName(['employee']);
  const reasons = definition.fields.find(({ name }) => name === 'reason')?.choices ?? [];
  const isComplete = employeeId !== undefined && isDay(from) && isDay(until) && from <= until;
  const save = useMutation({
    mutationFn: async () => {
      const body = { employeeId, from, until, substituteEmployeeId, ...(reason && { reason }) };
      const { id } = await call<{ id: string }>('POST', definition.path, { body });
      await forgetReadings();
      const name = (await readEmployee(employeeId!)) ?? '';
      tell(t('visits.absence.saved', { name, from: formatDay(from), until: formatDay(until) }), {
        label: t('undo.undo'),
        run: async () => {
          await call('DELETE', `/absences/${id}`, { version: 1 });
          await forgetReadings();
          tell(t('undo.done'));
        },
      });
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('visits.absence.title')}
      action={t('actions.save')}
      isDisabled={!isComplete}
      isPending={save.isPending}
      error={save.error}
      onClose={onClose}
      onSubmit={() => save.mutate()}
    >
      <ReferencePicker
        resources={['employee']}
        label={t('visits.employee')}
        required
        value={employeeId}
        onChange={setEmployeeId}
      />
      <Group gap="sm">
        <DayInput w={150} label={t('visits.absence.from')} required value={from} onChange={setFrom} />
        <DayInput w={150} label={t('visits.absence.until')} required value={until} onChange={setUntil} />
      </Group>
      <ReferencePicker
        resources={['employee']}
        label={t('visits.absence.substitute')}
        value={substituteEmployeeId}
        onChange={setSubstitute}
      />
      <Select
        label={t('visits.absence.reason')}
        data={reasons.map((choice) => ({ value: choice.value, label: titleOf(choice) }))}
        value={reason}
        onChange={setReason}
        clearable
        clearButtonProps={{ 'aria-label': t('actions.remove') }}
      />
      {isComplete && <AbsencePreview {...{ from, until, employeeId, substituteEmployeeId }} />}
      <AnchorLink to="/data/absences" size="sm">
        {t('visits.absence.all')}
      </AnchorLink>
    </FormDialog>
  );
}
