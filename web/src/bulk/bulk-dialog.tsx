// Shared by a change and a deletion of many records: reading them, naming those that failed, and undo.
import type { ModalProps } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/client.ts';
import type { Definition, Entity } from '../api/definitions.ts';
import { useForgetReadings } from '../api/records.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { FormDialog } from '../dialogs/form-dialog.tsx';
import { tell } from '../frame/notices.tsx';
import { undoImport } from '../import/import-runs.ts';
import type { Selection } from '../tables/selection.ts';
import { type BulkResult, readSelected } from './bulk.ts';
import { BulkFailures } from './bulk-failures.tsx';

export interface BulkDialogProps {
  definition: Definition;
  selection: Selection;
  parameters: Record<string, string | undefined>;
  count: number;
  onDone: () => void;
  onClose: () => void;
}

interface BulkWork {
  title: string;
  action: string;
  isDangerous?: boolean;
  isDisabled?: boolean;
  run: (entities: Entity[]) => Promise<BulkResult>;
  doneText: (done: number) => string;
  modal?: Partial<ModalProps>;
  children: ReactNode;
}

export function BulkDialog({
  definition,
  selection,
  parameters,
  onDone,
  onClose,
  run,
  doneText,
  ...form
}: Omit<BulkDialogProps, 'count'> & BulkWork) {
  const { t } = useTranslation();
  const forgetReadings = useForgetReadings();
  const [result, setResult] = useState<BulkResult>();
  async function undo(importId: string): Promise<void> {
    const { kept } = await undoImport(importId);
    await forgetReadings();
    if (kept > 0) throw new ApiError(0, { message: t('grid.undoFailed', { count: kept }) });
    tell(t('undo.done'));
  }
  const work = useMutation({
    mutationFn: async () => {
      const entities = await readSelected(definition, selection, parameters);
      if (!entities) throw new ApiError(0, { message: t('bulk.tooMany') });
      return run(entities);
    },
    onSuccess: async (ended) => {
      await forgetReadings();
      const { importId } = ended;
      if (ended.done > 0)
        tell(
          doneText(ended.done),
          importId === undefined ? undefined : { label: t('undo.undo'), run: () => undo(importId) },
        );
      if (ended.failed.length > 0) return setResult(ended);
      if (ended.done === 0) tell(t('bulk.nothingTitle'));
      onDone();
      onClose();
    },
  });
  if (!result) {
    return (
      <FormDialog
        {...form}
        isPending={work.isPending}
        error={work.error}
        onSubmit={() => work.mutate()}
        onClose={onClose}
      />
    );
  }
  const { done } = result;
  function close() {
    // If nothing was done, the selection waits for a second attempt.
    if (done > 0) onDone();
    onClose();
  }
  return (
    <Dialog onClose={close} title={t(done > 0 ? 'bulk.failedTitle' : 'bulk.nothingTitle')}>
      <BulkFailures definition={definition} result={result} onClose={close} />
    </Dialog>
  );
}
