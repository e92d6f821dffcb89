// Deletes the ticked records after a question. They go to the bin.
import { Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/client.ts';
import { nounOf } from '../api/definitions.ts';
import { useForgetReadings } from '../api/records.ts';
import { FailureNote } from '../frame/failure.tsx';
import { tell } from '../frame/notices.tsx';
import { formatNumber } from '../texts/format.ts';
import { type BulkResult, deleteAll, readSelected } from './bulk.ts';
import type { BulkDialogProps } from './bulk-change.tsx';
import { BulkFailures } from './bulk-failures.tsx';

export function BulkDeletion({ definition, selection, parameters, count, onDone, onClose }: BulkDialogProps) {
  const { t } = useTranslation();
  const forgetReadings = useForgetReadings();
  const [withDependants, setWithDependants] = useState(false);
  const [result, setResult] = useState<BulkResult>();
  const deletion = useMutation({
    mutationFn: async () => {
      const entities = await readSelected(definition, selection, parameters);
      if (!entities) throw new ApiError(0, { message: t('bulk.tooMany') });
      return deleteAll(definition, entities, withDependants);
    },
    onSuccess: async (deleted) => {
      await forgetReadings();
      tell(t('bulk.deleted', { count: deleted.done.length, formatted: formatNumber(deleted.done.length) }));
      if (deleted.failed.length > 0) return setResult(deleted);
      onDone();
      onClose();
    },
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('bulk.deleteTitle', {
        count,
        formatted: formatNumber(count),
        what: nounOf(definition, 'many'),
      })}
      closeButtonProps={{ 'aria-label': t('actions.close') }}
    >
      {result ? (
        <BulkFailures definition={definition} result={result} onClose={onClose} />
      ) : (
        <Stack>
          <Text size="sm">{t('bulk.deleteText')}</Text>
          <Checkbox
            label={t('bulk.withDependants')}
            checked={withDependants}
            onChange={({ currentTarget }) => setWithDependants(currentTarget.checked)}
          />
          {deletion.error && <FailureNote error={deletion.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} data-autofocus>
              {t('actions.cancel')}
            </Button>
            <Button color="red.8" loading={deletion.isPending} onClick={() => deletion.mutate()}>
              {t('actions.delete')}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
