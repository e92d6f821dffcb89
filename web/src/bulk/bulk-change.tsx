// One field of many records: chosen, filled in and saved.
import { Select, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Entity, nounOf, titleOf } from '../api/definitions.ts';
import { FieldInput } from '../forms/field-input.tsx';
import { findLocalErrors, startValues, toPatch, type Values } from '../forms/form-values.ts';
import { decimalSeparator, formatNumber } from '../texts/format.ts';
import { changeAll, changeableFieldsOf } from './bulk.ts';
import { BulkDialog, type BulkDialogProps } from './bulk-dialog.tsx';

export function BulkChange({ count, ...dialog }: BulkDialogProps) {
  const { t } = useTranslation();
  const { definition } = dialog;
  const separator = decimalSeparator();
  const empty = startValues(definition, separator, {});
  const [path, setPath] = useState<string | null>(null);
  const [values, setValues] = useState<Values>(empty);
  const fields = changeableFieldsOf(definition);
  const field = fields.find((candidate) => candidate.path === path);
  const localError = path === null ? undefined : findLocalErrors(definition, values, separator).get(path);
  const change = (entities: Entity[]) => {
    // A value that differs from nothing, even where the field begins with a default.
    const patch = toPatch(definition, { ...values, [path!]: {} }, values, separator);
    return changeAll(definition, entities, patch);
  };

  return (
    <BulkDialog
      {...dialog}
      title={t('bulk.changeTitle', {
        count,
        formatted: formatNumber(count),
        what: nounOf(definition, count === 1 ? 'one' : 'many'),
      })}
      action={t('bulk.change')}
      isDisabled={!field || localError !== undefined}
      run={change}
      doneText={(done) => t('bulk.changed', { count: done, formatted: formatNumber(done) })}
    >
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
    </BulkDialog>
  );
}
