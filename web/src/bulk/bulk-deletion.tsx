// Deletes the ticked records after a question. They go to the bin.
import { Checkbox, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { nounOf } from '../api/definitions.ts';
import { formatNumber } from '../texts/format.ts';
import { deleteAll } from './bulk.ts';
import { BulkDialog, type BulkDialogProps } from './bulk-dialog.tsx';

export function BulkDeletion({ count, ...dialog }: BulkDialogProps) {
  const { t } = useTranslation();
  const { definition } = dialog;
  const [withDependants, setWithDependants] = useState(false);
  return (
    <BulkDialog
      {...dialog}
      title={t('bulk.deleteTitle', {
        count,
        formatted: formatNumber(count),
        what: nounOf(definition, count === 1 ? 'one' : 'many'),
      })}
      action={t('actions.delete')}
      isDangerous
      run={(entities) => deleteAll(definition, entities, withDependants)}
      doneText={(done) => t('bulk.deleted', { count: done, formatted: formatNumber(done) })}
    >
      <Text size="sm">{t('bulk.deleteText')}</Text>
      <Checkbox
        label={t('bulk.withDependants')}
        checked={withDependants}
        onChange={({ currentTarget }) => setWithDependants(currentTarget.checked)}
      />
    </BulkDialog>
  );
}
