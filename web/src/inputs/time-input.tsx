import { TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { toTime } from '../forms/form-values.ts';

interface TimeInputProps {
  label: string;
  isLabelShown?: boolean;
  value: string;
  onChange: (time: string) => void;
}

/** A text and no native time input: those cannot say 24:00, and "830" is faster than a spinner. */
export function TimeInput({ label, isLabelShown = false, value, onChange }: TimeInputProps) {
  const { t } = useTranslation();
  return (
    <TextInput
      w={76}
      label={isLabelShown ? label : undefined}
      aria-label={isLabelShown ? undefined : label}
      title={t('form.time')}
      placeholder="08:00"
      inputMode="numeric"
      maxLength={5}
      value={value}
      error={value !== '' && !/^\d\d?$|^\d{1,2}[:.]?\d{0,2}$/.test(value)}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      onBlur={() => {
        if (toTime(value) !== value) onChange(toTime(value));
      }}
    />
  );
}
