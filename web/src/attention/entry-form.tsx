// The part of the form that fixes one entry of the attention list, without leaving it.
import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import { type Definition, type Entity, leavesOf } from '../api/definitions.ts';
import { type AttentionEntry, recordQuery, useForgetReadings } from '../api/records.ts';
import { FieldInput } from '../forms/field-input.tsx';
import { findLocalErrors, toPatch, toValues } from '../forms/form-values.ts';
import { FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { tell } from '../frame/notices.tsx';
import { fieldErrorText } from '../inputs/field-error-text.ts';
import { decimalSeparator } from '../texts/format.ts';

interface EntryFormProps {
  definition: Definition;
  entity: Entity;
  entry: AttentionEntry;
  onDone: () => void;
}

export function EntryForm(props: EntryFormProps) {
  const { definition, entity } = props;
  // The list may show older values than the stored ones.
  const { data, error } = useQuery({ ...recordQuery(definition.collection, entity.id), staleTime: 0 });
  if (error) return <FailureNote error={error} />;
  if (!data) return <Lines />;
  return <FieldForm key={data.version} {...props} entity={data} />;
}

function FieldForm({ definition, entity, entry, onDone }: EntryFormProps) {
  const { t } = useTranslation();
  const forgetReadings = useForgetReadings();
  const initial = toValues(definition, entity, decimalSeparator());
  const [values, setValues] = useState(initial);
  const [localError, setLocalError] = useState<string>();
  const leaves = leavesOf(definition.fields);
  // Instead of an external id that nothing has, somebody in the office chooses a record.
  const asked = leaves.find(({ path }) => path === entry.field)?.twinOf ?? entry.field;
  const fields = leaves.filter(({ path }) => path === asked || path.startsWith(`${asked}.`));
  const saving = useMutation({
    mutationFn: () =>
      call('PATCH', `/${definition.collection}/${entity.id}`, {
        body: toPatch(definition, initial, values, decimalSeparator()),
        version: entity.version,
      }),
    onSuccess: async () => {
      tell(t('form.saved'));
      onDone();
      await forgetReadings();
    },
  });
  const failure = saving.error && toApiError(saving.error);
  const errorOf = (path: string) => {
    const error = failure?.errors.find(({ field }) => field === path);
    const field = leaves.find((leaf) => leaf.path === path);
    return error && fieldErrorText(field, error, definition);
  };

  function save() {
    const [error] = findLocalErrors(definition, values, decimalSeparator()).values();
    setLocalError(error && t(error));
    if (!error) saving.mutate();
  }

  return (
    <Stack gap="sm">
      <Group align="flex-end" gap="sm">
        {fields.map((field) => (
          <div key={field.path} style={{ minWidth: field.reference ? 'min(100%, 22rem)' : undefined }}>
            <FieldInput
              field={field}
              value={values[field.path]}
              onChange={(value) => setValues({ ...values, [field.path]: value })}
              error={errorOf(field.path)}
              near={{ customerId: entity.customerId as string | undefined }}
            />
          </div>
        ))}
      </Group>
      {localError && (
        <Text c="var(--mantine-color-error)" size="sm">
          {localError}
        </Text>
      )}
      {failure && failure.errors.length === 0 && <FailureNote error={failure} />}
      <Group gap="xs">
        <Button size="xs" loading={saving.isPending} onClick={save}>
          {t('actions.save')}
        </Button>
        <ButtonLink size="xs" variant="subtle" to={`/data/${definition.collection}/${entity.id}/edit`}>
          {t('actions.edit')}
        </ButtonLink>
      </Group>
    </Stack>
  );
}
