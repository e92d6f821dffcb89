// Asks before an object is brought back to an earlier state, and shows what that changes.
import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import type { Definition, Entity } from '../api/definitions.ts';
import { type Change, useForgetReadings } from '../api/records.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { formatTime } from '../texts/format.ts';
import { type EarlierValues, patchTo } from './earlier-state.ts';
import { useUndo } from './use-undo.ts';

interface EarlierStateProps {
  definition: Definition;
  entity: Entity;
  change: Change;
  values: EarlierValues;
  onClose: () => void;
  /** The fields that change. */
  children: ReactNode;
}

export function EarlierStateDialog({
  definition,
  entity,
  change,
  values,
  onClose,
  children,
}: EarlierStateProps) {
  const { t } = useTranslation();
  const forgetReadings = useForgetReadings();
  const { tellSaved } = useUndo();
  const going = useMutation({
    mutationFn: () =>
      call<Entity>('PATCH', `/${definition.collection}/${entity.id}`, {
        body: patchTo(definition, values),
        version: entity.version,
      }),
    onSuccess: async (after) => {
      await forgetReadings();
      tellSaved(definition, entity, after);
      onClose();
    },
  });
  return (
    <Dialog onClose={onClose} title={t('history.restoreTitle', { when: formatTime(change.at) })}>
      <Stack>
        <Text size="sm">{t('history.restoreText')}</Text>
        {children}
        {going.error && <FailureNote error={going.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t('actions.cancel')}
          </Button>
          <Button loading={going.isPending} onClick={() => going.mutate()}>
            {t('history.restoreConfirm')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
