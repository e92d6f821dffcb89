// The month to choose a day from, loaded when somebody opens the first one.
import '@mantine/dates/styles.css';
import 'dayjs/locale/de';
import 'dayjs/locale/en-gb';
import { FocusTrap } from '@mantine/core';
import { DatePicker } from '@mantine/dates';
import { useTranslation } from 'react-i18next';
import { isDay } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import classes from './calendar.module.css';

interface CalendarProps {
  value: string;
  onChoose: (day: string) => void;
}

export function Calendar({ value, onChoose }: CalendarProps) {
  const { t } = useTranslation();
  const day = isDay(value) ? value : null;
  return (
    <FocusTrap>
      <div>
        <DatePicker
          value={day}
          defaultDate={day ?? undefined}
          onChange={(chosen) => onChoose(chosen ?? '')}
          allowDeselect
          locale={currentLanguage() === 'de' ? 'de' : 'en-gb'}
          firstDayOfWeek={1}
          highlightToday
          hideOutsideDates
          classNames={{ day: classes.day, weekday: classes.weekday, calendarHeaderLevel: classes.level }}
          ariaLabels={{
            previousMonth: t('calendar.previousMonth'),
            nextMonth: t('calendar.nextMonth'),
            previousYear: t('calendar.previousYear'),
            nextYear: t('calendar.nextYear'),
            previousDecade: t('calendar.previousDecade'),
            nextDecade: t('calendar.nextDecade'),
          }}
        />
      </div>
    </FocusTrap>
  );
}
