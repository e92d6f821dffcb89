// Changes one field of many records: chosen, filled in and saved.
import { Select, Text } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Entity, type Field, labelOf, nounOf, titleOf, valueAt } from '../api/definitions.ts';
import { useNamed } from '../api/named.ts';
import { FieldInput } from '../forms/field-input.tsx';
import { findLocalErrors, startValues, toPatch, type Values } from '../forms/form-values.ts';
import { plainText } from '../records/value.tsx';
import { decimalSeparator, formatNumber } from '../texts/format.ts';
import { changeAll, changeableFieldsOf, hasPercent, raiseAll } from './bulk.ts';
import { BulkDialog, type BulkDialogProps } from './bulk-dialog.tsx';
import { readPercent } from './percent.ts';

export function BulkChange({ count, ...dialog }: BulkDialogProps) {
  const { t } = useTranslation();
  const { definition } = dialog;
  const separator = decimalSeparator();
  const empty = startValues(definition, separator, {});
  const [path, setPath] = useState<string | null>(null);
  const [values, setValues] = useState<Values>(empty);
  const fields = changeableFieldsOf(definition);
  const field = fields.find((candidate) => candidate.path === path);
  const value = path === null ? undefined : values[path];
  const percent = field && hasPercent(field) ? readPercent(String(value)) : undefined;
  const localError =
    path === null || percent !== undefined
      ? undefined
      : findLocalErrors(definition, values, separator).get(path);
  const named = useNamed(field?.reference?.resources ?? [], field?.reference && String(value)).data;
  // A value that differs from nothing, even where the field begins with a default.
  const patchOf = () => toPatch(definition, { ...values, [path!]: {} }, values, separator);
  const change = (entities: Entity[]) =>
    percent === undefined
      ? changeAll(definition, entities, patchOf())
      : raiseAll(definition, entities, field!, percent);
  function doneText(done: number): string {
    const what = nounOf(definition, done === 1 ? 'one' : 'many');
    const words = { count: done, formatted: formatNumber(done), what, field: titleOf(field!) };
    if (field!.kind === 'list') return t('bulk.changedList', words);
    const next = percent === undefined ? valueAt(patchOf(), path!) : String(value).trim();
    const name = named && labelOf(named.definition, named.entity);
    return t('bulk.changed', { ...words, value: name ?? wordsOf(field!, next, t) });
  }

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
      doneText={doneText}
      modal={field?.kind === 'list' ? { size: 'lg' } : {}}
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
          key={field.path}
          field={field}
          value={values[field.path]}
          onChange={(value) => setValues({ ...values, [field.path]: value })}
          error={localError && t(localError)}
        />
      )}
      {field && !field.isRequired && (
        <Text size="xs" c="dimmed">
          {t('bulk.clears')}
          {hasPercent(field) && ` ${t('bulk.percent')}`}
        </Text>
      )}
    </BulkDialog>
  );
}

function wordsOf(field: Field, value: unknown, t: TFunction): string {
  if (value === null || value === '') return t('bulk.emptied');
  if (typeof value === 'boolean') return t(value ? 'record.yes' : 'record.no');
  // A number that is sent exactly has no type of its own.
  const number = typeof value === 'object' ? Number(JSON.stringify(value)) : value;
  return plainText(field, number);
}
