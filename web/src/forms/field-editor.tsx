// One field of a record, edited in place: the same inputs, validation, conflict dialog and undo as in the form.
import { Button, Group, Stack } from '@mantine/core';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { toApiError } from '../api/client.ts';
import { type Definition, type Entity, type Field, leavesOf } from '../api/definitions.ts';
import { FailureNote } from '../frame/failure.tsx';
import { useUnsavedWork } from '../frame/unsaved-work.ts';
import { decimalSeparator } from '../texts/format.ts';
import { FieldInput } from './field-input.tsx';
import { errorsByField } from './form-errors.ts';
import { changedPaths, findLocalErrors } from './form-values.ts';
import { WithCreation } from './picker-creation.tsx';
import { useEditing } from './use-editing.tsx';

interface FieldEditorProps {
  definition: Definition;
  entity: Entity;
  /** A group brings all its fields. */
  field: Field;
  onDone: () => void;
}

export function FieldEditor({ definition, entity, field, onDone }: FieldEditorProps) {
  const { version, initial, save, dialog } = useEditing(definition, entity, onDone);
  return (
    <WithCreation>
      <Inputs key={version} {...{ definition, entity, field, initial, save, onDone }} />
      {dialog}
    </WithCreation>
  );
}

type InputsProps = FieldEditorProps & Pick<ReturnType<typeof useEditing>, 'initial' | 'save'>;

function Inputs({ definition, entity, field, initial, save, onDone }: InputsProps) {
  const { t } = useTranslation();
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState<ReadonlyMap<string, string>>(new Map());
  const [failure, setFailure] = useState<unknown>();
  const [isSaving, setIsSaving] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const leaves = leavesOf([field]);
  const isChanged = changedPaths(initial, values).length > 0;
  useUnsavedWork(isChanged);

  useEffect(() => form.current?.querySelector<HTMLElement>('input, textarea')?.focus(), []);

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!isChanged) return onDone();
    const local = findLocalErrors(definition, values, decimalSeparator());
    setErrors(new Map([...local].map(([path, key]) => [path, t(key)])));
    if (local.size > 0) return;
    setFailure(undefined);
    setIsSaving(true);
    try {
      await save(values);
    } catch (error) {
      const refused = toApiError(error);
      const found = await errorsByField(definition, refused);
      const isHere = leaves.some(({ path }) => found.has(path));
      setErrors(found);
      // The conflict dialog shows what a 412 means.
      if (!isHere && refused.status !== 412) setFailure(error);
    } finally {
      setIsSaving(false);
    }
  }

  return (
    <form
      ref={form}
      noValidate
      onSubmit={submit}
      onKeyDown={(event) => {
        const isList = (event.target as HTMLElement).ariaExpanded === 'true';
        if (event.key === 'Escape' && !isList && !isChanged) onDone();
      }}
    >
      <Stack gap="xs">
        {leaves.map((leaf) => (
          <FieldInput
            key={leaf.path}
            field={leaf}
            value={values[leaf.path]}
            onChange={(value) => setValues((before) => ({ ...before, [leaf.path]: value }))}
            error={errors.get(leaf.path)}
            near={{
              customerId: entity.customerId as string | undefined,
              siteId: entity.siteId as string | undefined,
            }}
            currency={values.currency}
          />
        ))}
        {failure !== undefined && <FailureNote error={failure} />}
        <Group gap="xs">
          <Button type="submit" size="compact-sm" loading={isSaving}>
            {t('actions.save')}
          </Button>
          <Button size="compact-sm" variant="default" onClick={onDone}>
            {t('actions.cancel')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
