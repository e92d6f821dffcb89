// One field of many records: chosen, filled in, saved, and taken back if it was a mistake.
import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/client.ts';
import {
  type Definition,
  type Entity,
  type Field,
  leavesOf,
  nounOf,
  setAt,
  titleOf,
  valueAt,
} from '../api/definitions.ts';
import { useForgetReadings } from '../api/records.ts';
import { FailureNote } from '../frame/failure.tsx';
import { tell } from '../frame/notices.tsx';
import { decimalSeparator, formatNumber } from '../texts/format.ts';
import { type BulkResult, changeAll, readSelected } from './bulk.ts';
import { BulkFailures } from './bulk-failures.tsx';
import { FieldInput } from './field-input.tsx';
import { findLocalErrors, startValues, toPatch, type Values } from './form-values.ts';
import type { Selection } from './selection.ts';

export interface BulkDialogProps {
  definition: Definition;
  selection: Selection;
  parameters: Record<string, string | undefined>;
  count: number;
  onDone: () => void;
  onClose: () => void;
}

/** Lists are edited one record at a time, and unique values would be refused from the second record on. */
function changeableFieldsOf(definition: Definition): Field[] {
  return leavesOf(definition.fields).filter(
    ({ kind, path, twinOf }) => kind !== 'list' && !twinOf && !definition.uniqueFields.includes(path),
  );
}

export function BulkChange({ definition, selection, parameters, count, onDone, onClose }: BulkDialogProps) {
  const { t } = useTranslation();
  const forgetReadings = useForgetReadings();
  const separator = decimalSeparator();
  const empty = startValues(definition, separator, {});
  const [path, setPath] = useState<string | null>(null);
  const [values, setValues] = useState<Values>(empty);
  const [result, setResult] = useState<BulkResult>();
  const fields = changeableFieldsOf(definition);
  const field = fields.find((candidate) => candidate.path === path);
  const localError = path === null ? undefined : findLocalErrors(definition, values, separator).get(path);
  const saving = useMutation({
    mutationFn: async () => {
      const entities = await readSelected(definition, selection, parameters);
      if (!entities) throw new ApiError(0, { message: t('bulk.tooMany') });
      // A value that differs from nothing, even where the field begins with a default.
      const patch = toPatch(definition, { ...values, [path!]: {} }, values, separator);
      return changeAll(definition, entities, () => patch);
    },
    onSuccess: async (saved) => {
      await forgetReadings();
      tell(t('bulk.changed', { count: saved.done.length, formatted: formatNumber(saved.done.length) }), {
        label: t('undo.undo'),
        run: () => undoChange(saved.done),
      });
      if (saved.failed.length > 0) return setResult(saved);
      onDone();
      onClose();
    },
  });

  async function undoChange(before: readonly Entity[]): Promise<void> {
    const undone = await changeAll(definition, before, (entity) => {
      const patch = {};
      setAt(patch, path!, valueAt(entity, path!) ?? null);
      return patch;
    });
    await forgetReadings();
    if (undone.failed.length > 0)
      throw new ApiError(0, { message: t('bulk.undoFailed', { count: undone.failed.length }) });
    tell(t('undo.done'));
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={t('bulk.changeTitle', {
        count,
        formatted: formatNumber(count),
        what: nounOf(definition, 'many'),
      })}
      closeButtonProps={{ 'aria-label': t('actions.close') }}
    >
      {result ? (
        <BulkFailures definition={definition} result={result} onClose={onClose} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            saving.mutate();
          }}
        >
          <Stack>
            <Select
              data-autofocus
              label={t('bulk.field')}
              placeholder={t('form.choose')}
              searchable
              nothingFoundMessage={t('form.noResult')}
              data={fields.map((candidate) => ({ value: candidate.path, label: titleOf(candidate) }))}
              value={path}
              onChange={(next) => {
                setPath(next);
                setValues(empty);
              }}
            />
            {field && (
              <FieldInput
                field={field}
                value={values[field.path]}
                onChange={(value) => setValues({ ...values, [field.path]: value })}
                error={localError && t(localError)}
              />
            )}
            {field && !field.isRequired && (
              <Text size="xs" c="dimmed">
                {t('bulk.clears')}
              </Text>
            )}
            {saving.error && <FailureNote error={saving.error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                {t('actions.cancel')}
              </Button>
              <Button type="submit" disabled={!field || localError !== undefined} loading={saving.isPending}>
                {t('bulk.change')}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
