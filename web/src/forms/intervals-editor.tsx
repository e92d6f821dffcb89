// Visit intervals as sentences that one fills in. Items of another shape stay as they are until somebody removes them.
import { ActionIcon, Button, Chip, Collapse, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type DayName, dayNames, todayIn } from '../../../core/calendar/calendar-days.ts';
import {
  type AttendingInterval,
  type Frequency,
  frequencies,
  isAttendingInterval,
} from '../../../core/calendar/visits.ts';
import { Icon } from '../icons.tsx';
import { DayInput } from '../inputs/day-input.tsx';
import { TimeInput } from '../inputs/time-input.tsx';
import { describeInterval } from '../records/interval-words.ts';
import { isBefore, monthNames, weekdayNames } from '../texts/format.ts';
import classes from './editors.module.css';
import { KeptItems } from './kept-items.tsx';

const FirstVisits = lazy(async () => ({ default: (await import('./first-visits.tsx')).FirstVisits }));

interface EditorProps {
  items: unknown[];
  onChange: (items: unknown[]) => void;
}

export function IntervalsEditor({ items, onChange }: EditorProps) {
  const { t } = useTranslation();
  const [unknown, setUnknown] = useState(() => items.filter((item) => !isAttendingInterval(item)));
  const [rules, setRules] = useState(() => items.filter(isAttendingInterval));

  function change(nextRules: AttendingInterval[], nextUnknown = unknown) {
    setRules(nextRules);
    setUnknown(nextUnknown);
    onChange([...nextRules.map(withoutEmpty), ...nextUnknown]);
  }

  return (
    <Stack gap="md">
      {rules.map((rule, index) => (
        <RuleEditor
          // biome-ignore lint/suspicious/noArrayIndexKey: rules have no name, and typing must not remake the inputs.
          key={index}
          rule={rule}
          onChange={(next) => change(rules.with(index, next))}
          onRemove={() => change(rules.toSpliced(index, 1))}
        />
      ))}
      <Group>
        <Button
          size="compact-sm"
          variant="light"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() =>
            change([...rules, { frequency: 'WEEKLY', interval: 2, startDate: todayIn(undefined) }])
          }
        >
          {t('form.addInterval')}
        </Button>
      </Group>
      <KeptItems items={unknown} onRemove={(index) => change(rules, unknown.toSpliced(index, 1))} />
    </Stack>
  );
}

/** An empty list or text says nothing, so it is not sent. */
function withoutEmpty(rule: AttendingInterval): AttendingInterval {
  const isEmpty = (value: unknown) =>
    value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(
    Object.entries(rule).filter(([, value]) => !isEmpty(value)),
  ) as unknown as AttendingInterval;
}

interface RuleEditorProps {
  rule: AttendingInterval;
  onChange: (rule: AttendingInterval) => void;
  onRemove: () => void;
}

const weeks = { first: 1, second: 2, third: 3, fourth: 4, last: -1 } as const;
type Week = keyof typeof weeks;

function RuleEditor({ rule, onChange, onRemove }: RuleEditorProps) {
  const { t } = useTranslation();
  const [isMore, setIsMore] = useState(
    rule.byMonth !== undefined ||
      rule.toleranceInDays !== undefined ||
      isBefore(rule.endDate, rule.startDate),
  );
  const set = (changes: Partial<AttendingInterval>) => onChange({ ...rule, ...changes });
  const week = (Object.keys(weeks) as Week[]).find((name) => weeks[name] === rule.weekOfMonth);
  const complete = withoutEmpty(rule);
  return (
    <div className={classes.rule}>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          type="number"
          w={84}
          label={t('form.every')}
          min={1}
          max={52}
          value={rule.interval ?? 1}
          onChange={({ currentTarget }) => set({ interval: toNumber(currentTarget.value) ?? 1 })}
        />
        <Select
          w={130}
          aria-label={t('form.every')}
          allowDeselect={false}
          data={frequencies.map((frequency) => ({ value: frequency, label: t(`form.units.${frequency}`) }))}
          value={rule.frequency}
          onChange={(frequency) => set({ frequency: frequency as Frequency })}
        />
        <ActionIcon
          ml="auto"
          variant="subtle"
          color="gray"
          aria-label={t('form.removeInterval')}
          onClick={onRemove}
        >
          <Icon name="trash" size={16} />
        </ActionIcon>
      </Group>
      {rule.frequency !== 'DAILY' && (
        <Chips
          label={t('form.onDays')}
          choices={weekdayNames('short').map((name, index) => ({ name, value: dayNames[index]! }))}
          chosen={rule.byDay ?? []}
          onChange={(byDay) => set({ byDay: byDay as DayName[] })}
        />
      )}
      {(rule.frequency === 'MONTHLY' || rule.frequency === 'YEARLY') && (
        <Select
          w={220}
          label={t('form.week')}
          allowDeselect={false}
          data={(['any', ...Object.keys(weeks)] as ('any' | Week)[]).map((name) => ({
            value: name,
            label: t(`form.weeks.${name}`),
          }))}
          value={week ?? 'any'}
          onChange={(name) => set({ weekOfMonth: name === 'any' ? undefined : weeks[name as Week] })}
        />
      )}
      <Group align="flex-end" gap="xs">
        <DayInput
          w={150}
          label={t('form.start')}
          value={rule.startDate ?? ''}
          onChange={(day) => set({ startDate: day || undefined })}
        />
        <Group align="flex-end" gap="xs" wrap="nowrap">
          <TimeInput
            label={t('form.timeFrom')}
            isLabelShown
            value={rule.timeFrom ?? ''}
            onChange={(timeFrom) => set({ timeFrom })}
          />
          <TimeInput
            label={t('form.timeUntil')}
            isLabelShown
            value={rule.timeUntil ?? ''}
            onChange={(timeUntil) => set({ timeUntil })}
          />
        </Group>
        <Button size="sm" variant="subtle" onClick={() => setIsMore(!isMore)} aria-expanded={isMore}>
          {t(isMore ? 'form.less' : 'form.more')}
        </Button>
      </Group>
      <Collapse expanded={isMore}>
        <RareParts rule={rule} onChange={set} />
      </Collapse>
      <Text size="sm" c="dimmed">
        {isAttendingInterval(complete) && describeInterval(complete, t)}
        <br />
        <Suspense fallback={'\u00a0'}>
          <FirstVisits interval={complete} />
        </Suspense>
      </Text>
    </div>
  );
}

const toNumber = (text: string) => (text === '' ? undefined : Number(text));

interface RarePartsProps {
  rule: AttendingInterval;
  onChange: (changes: Partial<AttendingInterval>) => void;
}

function RareParts({ rule, onChange }: RarePartsProps) {
  const { t } = useTranslation();
  return (
    <Stack gap="sm">
      <Group align="flex-start" gap="xs">
        <DayInput
          w={150}
          label={t('form.end')}
          value={rule.endDate ?? ''}
          error={
            isBefore(rule.endDate, rule.startDate) && t('fieldError.dateOrder', { other: t('form.start') })
          }
          onChange={(day) => onChange({ endDate: day || undefined })}
        />
        <TextInput
          type="number"
          w={110}
          label={t('form.duration')}
          min={1}
          max={1440}
          value={rule.durationInMinutes ?? ''}
          onChange={({ currentTarget }) => onChange({ durationInMinutes: toNumber(currentTarget.value) })}
        />
        <TextInput
          type="number"
          w={150}
          label={t('form.tolerance')}
          min={0}
          max={31}
          value={rule.toleranceInDays ?? ''}
          onChange={({ currentTarget }) => onChange({ toleranceInDays: toNumber(currentTarget.value) })}
        />
      </Group>
      <Chips
        label={t('form.months')}
        choices={monthNames('short').map((name, index) => ({ name, value: String(index + 1) }))}
        chosen={(rule.byMonth ?? []).map(String)}
        onChange={(months) => onChange({ byMonth: months.map(Number).sort((one, other) => one - other) })}
      />
    </Stack>
  );
}

interface ChipsProps {
  label: string;
  choices: readonly { name: string; value: string }[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}

function Chips({ label, choices, chosen, onChange }: ChipsProps) {
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500}>
        {label}
      </Text>
      <Chip.Group multiple value={chosen} onChange={onChange}>
        <Group gap={6}>
          {choices.map(({ name, value }) => (
            <Chip key={name} value={value} size="xs">
              {name}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
    </Stack>
  );
}
