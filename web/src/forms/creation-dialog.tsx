// Creates a record over a form that refers to it. The form behind keeps everything typed.
import { useMutation } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import { type Definition, nounOf } from '../api/definitions.ts';
import { useForgetReadings } from '../api/records.ts';
import { FormDialog } from '../dialogs/form-dialog.tsx';
import { tell } from '../frame/notices.tsx';
import { useUnsavedWork } from '../frame/unsaved-work.ts';
import { decimalSeparator } from '../texts/format.ts';
import { IdPrefix } from './field-input.tsx';
import { errorsByField } from './form-errors.ts';
import { shortForm } from './form-layout.ts';
import { FormSections } from './form-sections.tsx';
import { changedPaths, findLocalErrors, startValues, toNewBody, type Values } from './form-values.ts';
import type { CreationDialogProps } from './reference-picker.tsx';

export function CreationDialog({ definition, name, near, onCreated, onClose }: CreationDialogProps) {
  const { t } = useTranslation();
  const forgetReadings = useForgetReadings();
  const short = shortForm(definition);
  const [initial] = useState(() => namedValues(definition, name, near));
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState<ReadonlyMap<string, string>>(new Map());
  const fields = useRef<HTMLDivElement>(null);
  const isChanged = changedPaths(initial, values).length > 0;
  useUnsavedWork(true);
  const creation = useMutation({
    mutationFn: () =>
      call<{ id: string }>('POST', definition.path, {
        body: toNewBody(definition, values, decimalSeparator()),
      }),
    onSuccess: async ({ id }) => {
      await forgetReadings();
      tell(t('form.created'));
      onCreated(id);
    },
    onError: async (error) => {
      const refused = await errorsByField(definition, toApiError(error));
      const local = findLocalErrors(definition, values, decimalSeparator());
      setErrors(new Map([...refused, ...[...local].map(([path, key]) => [path, t(key)] as const)]));
    },
  });
  const failure = creation.error && toApiError(creation.error);

  useEffect(() => {
    const empty = 'input:not([role="switch"], [aria-haspopup], [value]:not([value=""]))';
    fields.current?.querySelector(empty)?.setAttribute('data-autofocus', 'true');
  }, []);

  useEffect(() => {
    if (errors.size > 0) fields.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [errors]);

  function submit() {
    setErrors(new Map());
    creation.mutate();
  }

  /** The library closes every dialog on Escape, also the one behind this. */
  function closeOnEscape(event: KeyboardEvent) {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    const isList = (event.target as HTMLElement).ariaExpanded === 'true';
    if (!isChanged && !isList) onClose();
  }

  return (
    <FormDialog
      title={t('form.new', { title: nounOf(definition) })}
      action={t('form.createAndTake')}
      isPending={creation.isPending}
      error={failure && errors.size === 0 ? failure : undefined}
      onSubmit={submit}
      onClose={onClose}
      modal={{ size: 'xl', closeOnEscape: false, closeOnClickOutside: false, onKeyDown: closeOnEscape }}
    >
      <IdPrefix value={`new-${definition.name}`}>
        <div ref={fields}>
          <FormSections
            definition={short}
            values={values}
            errors={errors}
            onChange={(path, value) => setValues((before) => ({ ...before, [path]: value }))}
          />
        </div>
      </IdPrefix>
    </FormDialog>
  );
}

/** The typed text is the name, and what belongs together stays together. */
function namedValues(definition: Definition, name: string, near: Record<string, string | undefined>): Values {
  const given = Object.fromEntries(
    Object.entries(near).flatMap(([key, id]) => (id === undefined ? [] : [[key, id]])),
  );
  const values = startValues(definition, decimalSeparator(), given);
  if (definition.nameField !== 'lastName') return { ...values, [definition.nameField]: name };
  const words = name.split(/\s+/);
  return { ...values, firstName: words.slice(0, -1).join(' '), lastName: words.at(-1) ?? '' };
}
