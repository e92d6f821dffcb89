// The form of a resource, made from its definition. The service judges; its errors are shown at the fields.
import { ActionIcon, Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ApiError, toApiError } from '../api/client.ts';
import { type Definition, leavesOf } from '../api/definitions.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { useUnsavedWork } from '../frame/unsaved-work.ts';
import { Icon } from '../icons.tsx';
import { decimalSeparator } from '../texts/format.ts';
import { DraftOffer } from './draft-offer.tsx';
import { useDraft } from './drafts.ts';
import classes from './form.module.css';
import { errorsByField, leafAt } from './form-errors.ts';
import { FormSections } from './form-sections.tsx';
import { changedPaths, findLocalErrors, type Values } from './form-values.ts';
import { WithCreation } from './picker-creation.tsx';

interface RecordFormProps {
  definition: Definition;
  initial: Values;
  initialErrors?: ReadonlyMap<string, string>;
  /** Rejects with the error of the service. */
  onSave: (values: Values) => Promise<void>;
  /** Saves a new record and begins another one. */
  next?: { save: (values: Values) => Promise<void>; begin: (values: Values) => void };
  onCancel: () => void;
  saveTitle: string;
  /** Whether everything is saved and leaving loses nothing. The caller sets it. */
  isSettled: RefObject<boolean>;
}

export function RecordForm({
  definition,
  initial,
  initialErrors,
  onSave,
  next,
  onCancel,
  saveTitle,
  isSettled,
}: RecordFormProps) {
  const { t } = useTranslation();
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState<ReadonlyMap<string, string>>(initialErrors ?? new Map());
  const [failure, setFailure] = useState<ApiError>();
  const [isSaving, setIsSaving] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const isChanged = changedPaths(initial, values).length > 0;
  const draft = useDraft(initial, values);
  useUnsavedWork(isChanged);

  const blocker = useBlocker({
    shouldBlockFn: () => isChanged && !isSettled.current,
    enableBeforeUnload: () => isChanged && !isSettled.current && !draft.isStored,
    withResolver: true,
  });

  useFocus(form, errors);

  function change(path: string, value: unknown) {
    setValues((before) => ({ ...before, [path]: value }));
    if (errors.has(path)) setErrors(new Map([...errors].filter(([other]) => other !== path)));
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    void save(onSave);
  }

  async function save(store: (values: Values) => Promise<void>, then?: (values: Values) => void) {
    setFailure(undefined);
    const local = findLocalErrors(definition, values, decimalSeparator());
    // The service refuses a text that is no number, and keeps a list of any shape.
    if ([...local.values()].some((key) => key !== 'form.number')) {
      setErrors(new Map([...local].map(([path, key]) => [path, t(key)])));
      return;
    }
    setIsSaving(true);
    try {
      await store(values);
      draft.drop();
      // Call it last: the next form would find the draft of this one.
      then?.(values);
    } catch (error) {
      const refused = toApiError(error);
      setFailure(refused);
      const refusedFields = await errorsByField(definition, refused);
      setErrors(new Map([...refusedFields, ...[...local].map(([path, key]) => [path, t(key)] as const)]));
    } finally {
      setIsSaving(false);
    }
  }

  return (
    <form ref={form} onSubmit={submit} noValidate className={classes.form}>
      <Stack gap="lg">
        <FormFailure definition={definition} failure={failure} />
        {draft.offered && (
          <DraftOffer
            at={draft.offered.at}
            onTake={() => {
              setValues((before) => ({ ...before, ...draft.offered!.values }));
              draft.settle();
            }}
            onDrop={draft.drop}
          />
        )}
        <WithCreation>
          <FormSections definition={definition} values={values} errors={errors} onChange={change} />
        </WithCreation>
      </Stack>
      <FormFoot
        saveTitle={saveTitle}
        isSaving={isSaving}
        onCancel={onCancel}
        onSaveAndNext={next && (() => save(next.save, next.begin))}
      />
      {blocker.status === 'blocked' && (
        <LeaveDialog
          onStay={() => blocker.reset?.()}
          onLeave={() => {
            draft.drop();
            blocker.proceed?.();
          }}
        />
      )}
    </form>
  );
}

/** The first field takes the keyboard, and later the first invalid one. */
function useFocus(form: RefObject<HTMLFormElement | null>, errors: ReadonlyMap<string, string>): void {
  useEffect(() => {
    const inputs = form.current?.querySelectorAll<HTMLInputElement>(
      'input:not([type="hidden"], [role="switch"])',
    );
    // A picker would open its list.
    const [first] = [...(inputs ?? [])].filter(
      (input) => input.getAttribute('role') !== 'combobox' && !input.ariaHasPopup,
    );
    first?.focus({ preventScroll: true });
  }, [form]);

  useEffect(() => {
    if (errors.size === 0) return;
    const invalid = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid]');
    invalid?.scrollIntoView({ block: 'center' });
    invalid?.focus({ preventScroll: true });
  }, [form, errors]);
}

interface FormFootProps {
  saveTitle: string;
  isSaving: boolean;
  onCancel: () => void;
  onSaveAndNext: (() => void) | undefined;
}

function FormFoot({ saveTitle, isSaving, onCancel, onSaveAndNext }: FormFootProps) {
  const { t } = useTranslation();
  return (
    <Group className={classes.foot} justify="flex-end" gap="xs">
      <Button variant="default" onClick={onCancel} {...(onSaveAndNext && { visibleFrom: 'xs' })}>
        {t('actions.cancel')}
      </Button>
      {onSaveAndNext && (
        <ActionIcon
          hiddenFrom="xs"
          variant="default"
          size={36}
          aria-label={t('actions.cancel')}
          onClick={onCancel}
        >
          <Icon name="close" size={16} />
        </ActionIcon>
      )}
      {onSaveAndNext && (
        <Button variant="default" loading={isSaving} onClick={onSaveAndNext}>
          {t('form.saveAndNext')}
        </Button>
      )}
      <Button type="submit" loading={isSaving}>
        {saveTitle}
      </Button>
    </Group>
  );
}

function LeaveDialog({ onStay, onLeave }: { onStay: () => void; onLeave: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog onClose={onStay} title={t('form.leave')}>
      <Text size="sm" mb="md">
        {t('form.leaveText')}
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onLeave}>
          {t('form.leaveYes')}
        </Button>
        <Button onClick={onStay} data-autofocus>
          {t('form.leaveNo')}
        </Button>
      </Group>
    </Dialog>
  );
}

function FormFailure({ definition, failure }: { definition: Definition; failure: ApiError | undefined }) {
  const { t } = useTranslation();
  if (!failure || failure.status === 412) return null;
  const leaves = leavesOf(definition.fields);
  const isShown = failure.code === 'conflict' || failure.errors.some(({ field }) => leafAt(leaves, field));
  // The form cannot mark an error of no field.
  const isElsewhere = failure.errors.some(({ field }) => !leafAt(leaves, field));
  return (
    <Alert color="red" variant="light" icon={<Icon name="warning" />} role="alert" title={t('failure.title')}>
      {isShown && t('failure.fields')} {isElsewhere && t('fieldError.other')}
      {!isShown && !isElsewhere && failure.message}
    </Alert>
  );
}
