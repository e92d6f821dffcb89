// The setting for visits on public holidays.
import { Select } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { holidayRules } from '../../../core/calendar/visit-plan.ts';
import { call } from '../api/client.ts';
import { useForgetReadings } from '../api/records.ts';
import { tell, tellFailure } from '../frame/notices.tsx';
import { visitSettingsQuery } from './visits-query.ts';

export function HolidaySetting() {
  const { t } = useTranslation();
  const { data } = useQuery(visitSettingsQuery);
  const forgetReadings = useForgetReadings();
  const change = useMutation({
    mutationFn: (holidayRule: string) => call('PUT', '/visit-settings', { body: { holidayRule } }),
    onSuccess: async () => {
      await forgetReadings();
      tell(t('form.saved'));
    },
    onError: tellFailure,
  });
  return (
    <Select
      w={220}
      aria-label={t('visits.holidays')}
      allowDeselect={false}
      disabled={!data || change.isPending}
      value={data?.holidayRule ?? null}
      data={holidayRules.map((value) => ({ value, label: t(`visits.rules.${value}`) }))}
      onChange={(value) => value && change.mutate(value)}
    />
  );
}
