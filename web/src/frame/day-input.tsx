// A day as the chosen language writes it; the browser's own input would follow the browser's language instead.
import { ActionIcon, TextInput, type TextInputProps } from '@mantine/core';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../icons.tsx';
import { formatDay, isDay, parseDay } from '../texts/format.ts';
import classes from './day-input.module.css';

interface DayInputProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  /** YYYY-MM-DD, or the typed text if it is no day. */
  value: string;
  onChange: (day: string) => void;
}

function written(value: string): string {
  return isDay(value) ? formatDay(value, { day: '2-digit', month: '2-digit', year: 'numeric' }) : value;
}

export function DayInput({ value, onChange, ...input }: DayInputProps) {
  const { t } = useTranslation();
  // While somebody types, the text is theirs.
  const [typed, setTyped] = useState<string>();
  const calendar = useRef<HTMLInputElement>(null);
  return (
    <TextInput
      {...input}
      autoComplete="off"
      inputMode="numeric"
      placeholder={t('form.dayPattern')}
      value={typed ?? written(value)}
      onFocus={() => setTyped(written(value))}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        onChange(parseDay(currentTarget.value) ?? currentTarget.value);
      }}
      onBlur={() => setTyped(undefined)}
      rightSection={
        <>
          <ActionIcon
            variant="subtle"
            color="gray"
            tabIndex={-1}
            aria-label={t('form.calendar')}
            onClick={() => calendar.current?.showPicker()}
          >
            <Icon name="calendar" size={16} />
          </ActionIcon>
          <input
            ref={calendar}
            type="date"
            className={classes.calendar}
            tabIndex={-1}
            aria-hidden="true"
            value={isDay(value) ? value : ''}
            onChange={({ currentTarget }) => onChange(currentTarget.value)}
          />
        </>
      }
    />
  );
}
