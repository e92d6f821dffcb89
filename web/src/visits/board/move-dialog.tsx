// Asks whether a move is for this time only or from now on, and says why one of them does not work.
import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useReadName } from '../../api/named.ts';
import { Dialog } from '../../dialogs/dialog.tsx';
import { ReferencePicker } from '../../forms/reference-picker.tsx';
import { DayInput } from '../../inputs/day-input.tsx';
import { formatDay, isDay } from '../../texts/format.ts';
import type { Visit } from '../visits-query.ts';
import classes from './board.module.css';
import { type Obstacle, type Plan, planFromNow, planOnce, type Target } from './moves.ts';
import { readSites, useMoves, type When } from './use-moves.ts';

interface MoveDialogProps {
  visits: readonly Visit[];
  /** The place where the visits were dropped. */
  target?: Target;
  onClose: () => void;
}

const shownVisits = 5;

/** The value that all visits have in common. */
function common<Value>(values: readonly Value[]): Value | undefined {
  return values.every((value) => value === values[0]) ? values[0] : undefined;
}

export function MoveDialog({ visits, target = {}, onClose }: MoveDialogProps) {
  const { t } = useTranslation();
  const commonDay = common(visits.map(({ date }) => date)) ?? '';
  const commonEmployee = common(visits.map(({ employee, employeeId }) => employee && employeeId));
  const [day, setDay] = useState(target.day ?? commonDay);
  const [employeeId, setEmployee] = useState(target.employeeId);
  const readEmployee = useReadName(['employee']);
  const move = useMoves();
  const wanted: Target = { day: isDay(day) && day !== commonDay ? day : undefined, employeeId };
  const { data: sites } = useQuery({
    queryKey: ['moved-sites', [...new Set(visits.map(({ siteId }) => siteId))]],
    queryFn: () => readSites(visits),
  });
  const save = useMutation({
    mutationFn: async (when: When) => move(visits, { ...wanted, employeeName: await employeeName() }, when),
    onSettled: onClose,
  });

  async function employeeName(): Promise<string | undefined> {
    if (employeeId === null) return t('visits.nobody');
    return employeeId ? readEmployee(employeeId) : undefined;
  }

  const plans: Record<When, Plan[] | undefined> = {
    once: visits.map((visit) => planOnce(visit, wanted)),
    fromNow:
      sites &&
      [...Map.groupBy(visits, ({ siteId }) => siteId)].map(([id, own]) =>
        planFromNow(sites.get(id) ?? {}, own, wanted),
      ),
  };
  const choices = (['once', 'fromNow'] as const).map((when) => ({ when, ...judge(plans[when]) }));
  return (
    <Dialog onClose={onClose} title={t('visits.move.title', { count: visits.length })}>
      <Stack>
        <List size="sm" listStyleType="none">
          {visits.slice(0, shownVisits).map((visit) => (
            <List.Item key={`${visit.siteId} ${visit.date} ${visit.movedFrom}`}>
              {visit.site?.name} ·{' '}
              {formatDay(visit.date, { weekday: 'short', day: 'numeric', month: 'numeric' })} ·{' '}
              {visit.employee ? `${visit.employee.firstName} ${visit.employee.lastName}` : t('visits.nobody')}
            </List.Item>
          ))}
        </List>
        {visits.length > shownVisits && (
          <Text size="sm">{t('visits.absence.others', { count: visits.length - shownVisits })}</Text>
        )}
        <Group align="flex-end" gap="sm" wrap="nowrap">
          <DayInput w={150} label={t('visits.day')} value={day} onChange={setDay} />
          <div className={classes.grow}>
            <ReferencePicker
              resources={['employee']}
              label={t('visits.employee')}
              value={employeeId === undefined ? commonEmployee : (employeeId ?? undefined)}
              onChange={(id) => setEmployee(id ?? null)}
            />
          </div>
        </Group>
        {choices.map(({ when, isPossible, obstacle, left }) => (
          <div key={when}>
            <Button
              fullWidth
              variant={when === 'once' ? 'filled' : 'light'}
              disabled={!isPossible}
              loading={save.isPending && save.variables === when}
              onClick={() => save.mutate(when)}
              data-autofocus={(when === 'once' && isPossible) || undefined}
            >
              {t(`visits.move.${when}`)}
            </Button>
            <Text size="xs" c="dimmed" mt={4}>
              {obstacle && obstacle !== 'nothing' && !isPossible
                ? t(`visits.move.obstacles.${obstacle}`)
                : t(`visits.move.hints.${when}`)}
            </Text>
            {isPossible && left > 0 && obstacle && (
              <Alert color="yellow" mt={4} p="xs">
                {t('visits.move.left', { count: left })} {t(`visits.move.obstacles.${obstacle}`)}
              </Alert>
            )}
          </div>
        ))}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('actions.cancel')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** Some of several visits can stay where they are. */
function judge(plans: readonly Plan[] | undefined) {
  const obstacles = (plans ?? []).flatMap((plan): Obstacle[] => ('obstacle' in plan ? [plan.obstacle] : []));
  const obstacle = obstacles.find((found) => found !== 'nothing') ?? obstacles[0];
  return {
    isPossible: plans !== undefined && obstacles.length < plans.length,
    obstacle,
    left: obstacles.filter((found) => found !== 'nothing').length,
  };
}
