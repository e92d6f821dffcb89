// A day as the chosen language writes it; the browser's own input would follow the browser's language instead.
import { ActionIcon, Popover, Skeleton, TextInput, type TextInputProps } from '@mantine/core';
import { lazy, Suspense, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../icons.tsx';
import { formatDay, isDay, parseDay } from '../texts/format.ts';

const Calendar = lazy(async () => ({ default: (await import('./calendar.tsx')).Calendar }));

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
  const [isOpen, setIsOpen] = useState(false);
  const field = useRef<HTMLInputElement>(null);

  function close() {
    setIsOpen(false);
    field.current?.focus();
  }

  return (
    <Popover opened={isOpen} onChange={setIsOpen} position="bottom-end" shadow="md" withRoles={false}>
      <Popover.Target>
        <TextInput
          {...input}
          ref={field}
          autoComplete="off"
          inputMode="numeric"
          placeholder={t('form.dayPattern')}
          value={typed ?? written(value)}
          onFocus={() => setTyped((text) => text ?? written(value))}
          onChange={({ currentTarget }) => {
            setTyped(currentTarget.value);
            onChange(parseDay(currentTarget.value) ?? currentTarget.value);
          }}
          onBlur={() => setTyped(undefined)}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowDown' || !event.altKey) return;
            event.preventDefault();
            setIsOpen(true);
          }}
          rightSection={
            <ActionIcon
              variant="subtle"
              color="gray"
              tabIndex={-1}
              aria-label={t('form.calendar')}
              aria-expanded={isOpen}
              onClick={() => setIsOpen(!isOpen)}
            >
              <Icon name="calendar" size={16} />
            </ActionIcon>
          }
        />
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={t('form.calendarOf', { field: String(input.label) })}>
        <Suspense fallback={<Skeleton width={252} height={268} />}>
          <Calendar
            value={value}
            onChoose={(day) => {
              onChange(day);
              // Before the focus comes back, which would write the day of before.
              setTyped(written(day));
              close();
            }}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
