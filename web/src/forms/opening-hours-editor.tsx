// Opening hours as a week that one fills in. Items of another shape stay as they are until somebody removes them.
import { ActionIcon, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { dayNames } from '../../../core/calendar/calendar-days.ts';
import { isOpeningHours, type Season, toSeasons } from '../../../core/calendar/opening-hours.ts';
import { Icon } from '../icons.tsx';
import { DayInput } from '../inputs/day-input.tsx';
import { TimeInput } from '../inputs/time-input.tsx';
import { isBefore, weekdayNames } from '../texts/format.ts';
import classes from './editors.module.css';
import { KeptItems } from './kept-items.tsx';

interface EditorProps {
  items: unknown[];
  onChange: (items: unknown[]) => void;
}

function emptySeason(): Season {
  return { week: dayNames.map(() => []) };
}

export function OpeningHoursEditor({ items, onChange }: EditorProps) {
  const { t } = useTranslation();
  const [unknown, setUnknown] = useState(() => items.filter((item) => !isOpeningHours(item)));
  // Keep the seasons here, because a season or a day without hours has no items.
  const [seasons, setSeasons] = useState<Season[]>(() => {
    const known = toSeasons(items.filter(isOpeningHours));
    return known.length > 0 ? known : [emptySeason()];
  });

  function change(nextSeasons: Season[], nextUnknown = unknown) {
    setSeasons(nextSeasons);
    setUnknown(nextUnknown);
    onChange([...nextSeasons.flatMap(toItems), ...nextUnknown]);
  }

  return (
    <Stack gap="lg">
      {seasons.map((season, index) => (
        <SeasonEditor
          // biome-ignore lint/suspicious/noArrayIndexKey: seasons have no name, and none moves.
          key={index}
          season={season}
          hasDates={index > 0 || season.validFrom !== undefined || season.validUntil !== undefined}
          onChange={(next) => change(seasons.with(index, next))}
          onRemove={seasons.length > 1 ? () => change(seasons.toSpliced(index, 1)) : undefined}
        />
      ))}
      <Group>
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => change([...seasons, emptySeason()])}
        >
          {t('form.addSeason')}
        </Button>
      </Group>
      <KeptItems items={unknown} onRemove={(index) => change(seasons, unknown.toSpliced(index, 1))} />
    </Stack>
  );
}

function toItems({ validFrom, validUntil, week }: Season): object[] {
  return week.flatMap((hours, day) =>
    hours.map(({ opens, closes }) => ({
      dayOfWeek: dayNames[day],
      opens,
      closes,
      ...(validFrom && { validFrom }),
      ...(validUntil && { validUntil }),
    })),
  );
}

interface SeasonEditorProps {
  season: Season;
  hasDates: boolean;
  onChange: (season: Season) => void;
  onRemove?: () => void;
}

function SeasonEditor({ season, hasDates, onChange, onRemove }: SeasonEditorProps) {
  const { t } = useTranslation();
  const setDay = (day: number, hours: Season['week'][number]) =>
    onChange({ ...season, week: season.week.with(day, hours) });
  const monday = season.week[0] ?? [];
  const names = weekdayNames('long');
  return (
    <Stack gap={6}>
      {hasDates && (
        <Group align="flex-end" gap="sm" mb={4}>
          <DayInput
            w={150}
            label={t('form.start')}
            value={season.validFrom ?? ''}
            onChange={(day) => onChange({ ...season, validFrom: day || undefined })}
          />
          <DayInput
            w={150}
            label={t('form.end')}
            value={season.validUntil ?? ''}
            error={
              isBefore(season.validUntil, season.validFrom) &&
              t('fieldError.dateOrder', { other: t('form.start') })
            }
            onChange={(day) => onChange({ ...season, validUntil: day || undefined })}
          />
          {onRemove && (
            <Button variant="subtle" color="gray" onClick={onRemove}>
              {t('actions.remove')}
            </Button>
          )}
        </Group>
      )}
      {season.week.map((hours, day) => (
        <div key={dayNames[day]} className={classes.day}>
          <Text size="sm" className={classes.dayName}>
            {names[day]}
          </Text>
          <div className={classes.times}>
            {hours.length === 0 && (
              <Text size="sm" c="dimmed" lh="36px">
                {t('form.closed')}
              </Text>
            )}
            {hours.map((item, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: times have no name, and typing must not remake the input.
              <Group key={index} gap={6} wrap="nowrap">
                <TimeInput
                  label={`${names[day]}: ${t('form.opens')}`}
                  value={item.opens}
                  onChange={(opens) => setDay(day, hours.with(index, { ...item, opens }))}
                />
                <span aria-hidden="true">–</span>
                <TimeInput
                  label={`${names[day]}: ${t('form.closes')}`}
                  value={item.closes}
                  onChange={(closes) => setDay(day, hours.with(index, { ...item, closes }))}
                />
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`${names[day]}: ${t('form.removeTime')}`}
                  onClick={() => setDay(day, hours.toSpliced(index, 1))}
                >
                  <Icon name="close" size={16} />
                </ActionIcon>
              </Group>
            ))}
          </div>
          <ActionIcon
            variant="subtle"
            mt={4}
            title={t(hours.length === 0 ? 'form.addDay' : 'form.addBreak')}
            aria-label={`${names[day]}: ${t(hours.length === 0 ? 'form.addDay' : 'form.addBreak')}`}
            onClick={() =>
              setDay(day, [
                ...hours,
                {
                  dayOfWeek: dayNames[day]!,
                  opens: hours.length === 0 ? '08:00' : '',
                  closes: hours.length === 0 ? '17:00' : '',
                },
              ])
            }
          >
            <Icon name="plus" size={16} />
          </ActionIcon>
        </div>
      ))}
      {monday.length > 0 && (
        <Group mt={4}>
          <Button
            size="compact-sm"
            variant="light"
            onClick={() =>
              onChange({
                ...season,
                week: season.week.map((hours, day) =>
                  day < 5 ? monday.map((item) => ({ ...item, dayOfWeek: dayNames[day]! })) : hours,
                ),
              })
            }
          >
            {t('form.copyDay')}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
