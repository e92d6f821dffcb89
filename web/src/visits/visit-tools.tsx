// Chooses the shown visits: day or week, grouping, employee and place.
import { ActionIcon, Button, Group, SegmentedControl, TextInput } from '@mantine/core';
import { useDebouncedCallback, useHotkeys } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { fromDayNumber, toDayNumber } from '../../../core/calendar/calendar-days.ts';
import { ReferencePicker } from '../forms/reference-picker.tsx';
import { Icon } from '../icons.tsx';
import { DayInput } from '../inputs/day-input.tsx';
import { isDay } from '../texts/format.ts';
import type { Grouping } from './visit-groups.ts';
import classes from './visits.module.css';

/** Parameters of the page's address. */
export type VisitSearch = Partial<Record<'day' | 'view' | 'by' | 'employeeId' | 'city' | 'zipCode', string>>;

interface VisitToolsProps {
  day: string;
  isWeek: boolean;
  grouping: Grouping;
  search: VisitSearch;
  onShow: (changes: VisitSearch) => void;
}

export function VisitTools({ day, isWeek, grouping, search, onShow }: VisitToolsProps) {
  const { t } = useTranslation();
  const step = (count: number) => onShow({ day: fromDayNumber(toDayNumber(day) + count * (isWeek ? 7 : 1)) });
  const find = useDebouncedCallback((changes: VisitSearch) => onShow(changes), 300);
  useHotkeys([
    ['ArrowLeft', () => step(-1)],
    ['ArrowRight', () => step(1)],
  ]);
  return (
    <Group gap="sm" mb="md" align="flex-end" className="screen-only">
      <DaySteps day={day} onStep={step} onShow={onShow} />
      <SegmentedControl
        aria-label={t('visits.view')}
        value={isWeek ? 'week' : 'day'}
        onChange={(view) => onShow({ view })}
        data={[
          { value: 'week', label: t('visits.week') },
          { value: 'day', label: t('visits.oneDay') },
        ]}
      />
      {!isWeek && (
        <SegmentedControl
          aria-label={t('visits.group')}
          value={grouping}
          onChange={(by) => onShow({ by })}
          data={[
            { value: 'employee', label: t('visits.by.employee') },
            { value: 'place', label: t('visits.by.place') },
          ]}
        />
      )}
      <div className={classes.filters}>
        <ReferencePicker
          resources={['employee']}
          label={t('visits.employee')}
          value={search.employeeId || undefined}
          onChange={(employeeId) => onShow({ employeeId })}
        />
        <TextInput
          label={t('visits.city')}
          defaultValue={search.city ?? ''}
          onChange={({ currentTarget }) => find({ city: currentTarget.value.trim() })}
        />
        <TextInput
          label={t('visits.zipCode')}
          inputMode="numeric"
          defaultValue={search.zipCode ?? ''}
          onChange={({ currentTarget }) => find({ zipCode: currentTarget.value.trim() })}
        />
      </div>
    </Group>
  );
}

interface DayStepsProps {
  day: string;
  onStep: (count: number) => void;
  onShow: (changes: VisitSearch) => void;
}

function DaySteps({ day, onStep, onShow }: DayStepsProps) {
  const { t } = useTranslation();
  return (
    <Group gap={4} wrap="nowrap" align="flex-end">
      <ActionIcon
        variant="default"
        size="input-sm"
        aria-label={t('visits.earlier')}
        style={{ rotate: '180deg' }}
        onClick={() => onStep(-1)}
      >
        <Icon name="right" size={16} />
      </ActionIcon>
      <DayInput
        w={150}
        label={t('visits.day')}
        value={day}
        onChange={(next) => isDay(next) && onShow({ day: next })}
      />
      <ActionIcon variant="default" size="input-sm" aria-label={t('visits.later')} onClick={() => onStep(1)}>
        <Icon name="right" size={16} />
      </ActionIcon>
      <Button variant="default" onClick={() => onShow({ day: undefined })}>
        {t('visits.today')}
      </Button>
    </Group>
  );
}
