// The form of a resource, made from its definition. The service judges; its errors are shown at the fields.
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ApiError, toApiError } from '../api/client.ts';
import { type Definition, type Field, leavesOf, titleOf } from '../api/definitions.ts';
import { useUnsavedWork } from '../frame/unsaved-work.ts';
import { Icon, resourceIcon } from '../icons.tsx';
import { decimalSeparator } from '../texts/format.ts';
import { Card } from './card.tsx';
import { DraftOffer } from './draft-offer.tsx';
import { useDraft } from './drafts.ts';
import { FieldInput } from './field-input.tsx';
import classes from './form.module.css';
import { errorsByField, leafAt } from './form-errors.ts';
import { changedPaths, findLocalErrors, type Values } from './form-values.ts';
import { PositionButton } from './position-button.tsx';

interface RecordFormProps {
  definition: Definition;
  initial: Values;
  initialErrors?: ReadonlyMap<string, string>;
  /** Rejects with what the service answered. */
  onSave: (values: Values) => Promise<void>;
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

  // The first invalid field comes into view, and takes the keyboard.
  useEffect(() => {
    if (errors.size === 0) return;
    const invalid = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-faulty]');
    invalid?.scrollIntoView({ block: 'center' });
    invalid?.focus({ preventScroll: true });
  }, [errors]);

  function change(path: string, value: unknown) {
    setValues((before) => ({ ...before, [path]: value }));
    if (errors.has(path)) setErrors(new Map([...errors].filter(([other]) => other !== path)));
  }

  async function save(event: FormEvent) {
    event.preventDefault();
    setFailure(undefined);
    const local = findLocalErrors(definition, values, decimalSeparator());
    if (local.size > 0) {
      setErrors(new Map([...local].map(([path, key]) => [path, t(key)])));
      return;
    }
    setIsSaving(true);
    try {
      await onSave(values);
      draft.drop();
    } catch (error) {
      const refused = toApiError(error);
      setFailure(refused);
      setErrors(await errorsByField(definition, refused));
    } finally {
      setIsSaving(false);
    }
  }

  const input = (field: Field) => (
    <div key={field.path} className={isWide(field) ? classes.wide : undefined}>
      <FieldInput
        field={field}
        value={values[field.path]}
        onChange={(value) => change(field.path, value)}
        error={errors.get(field.path)}
        near={nearOf(values)}
        currency={values.currency}
      />
    </div>
  );
  const plain = definition.fields.filter((field) => !field.fields && field.kind !== 'list' && !field.twinOf);
  return (
    <form ref={form} onSubmit={save} noValidate className={classes.form}>
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
        <Card title={t('record.details')} icon={resourceIcon(definition.name)}>
          <RequiredOneOf definition={definition} />
          <div className={classes.grid}>
            {plain.filter((field) => field.kind !== 'flag' && !isWide(field)).map(input)}
          </div>
          <div className={classes.grid}>{plain.filter(({ kind }) => kind === 'flag').map(input)}</div>
          <div className={classes.grid}>{plain.filter(isWide).map(input)}</div>
        </Card>
        {definition.fields
          .filter((field) => field.fields)
          .map((group) => (
            <Card key={group.path} title={titleOf(group)} icon="site">
              <div className={classes.grid}>{leavesOf(group.fields!).map(input)}</div>
              {group.fields!.some(({ name }) => name === 'location') && (
                <PositionButton path={`${group.path}.location`} values={values} onChange={change} />
              )}
            </Card>
          ))}
        {definition.fields
          .filter(({ kind }) => kind === 'list')
          .map((field) => (
            <Card
              key={field.path}
              title={titleOf(field)}
              icon={field.name === 'openingHours' ? 'clock' : 'calendar'}
            >
              {errors.has(field.path) && (
                <Text c="var(--mantine-color-error)" size="sm" mb="sm" tabIndex={-1} data-faulty role="alert">
                  {errors.get(field.path)}
                </Text>
              )}
              {input(field)}
            </Card>
          ))}
      </Stack>
      <Group className={classes.foot} justify="flex-end">
        <Button variant="default" onClick={onCancel}>
          {t('actions.cancel')}
        </Button>
        <Button type="submit" loading={isSaving}>
          {saveTitle}
        </Button>
      </Group>
      <Modal
        opened={blocker.status === 'blocked'}
        onClose={() => blocker.reset?.()}
        title={t('form.leave')}
        closeButtonProps={{ 'aria-label': t('actions.close') }}
      >
        <Text size="sm" mb="md">
          {t('form.leaveText')}
        </Text>
        <Group justify="flex-end">
          <Button
            variant="default"
            onClick={() => {
              draft.drop();
              blocker.proceed?.();
            }}
          >
            {t('form.leaveYes')}
          </Button>
          <Button onClick={() => blocker.reset?.()} data-autofocus>
            {t('form.leaveNo')}
          </Button>
        </Group>
      </Modal>
    </form>
  );
}

function isWide(field: Field): boolean {
  return field.kind === 'list' || ((field.maxLength ?? 0) >= 150 && field.format === undefined);
}

/** What is offered first belongs to the customer or the site that was chosen. */
function nearOf(values: Values): Record<string, string | undefined> {
  const idOf = (path: string) => (values[path] ? String(values[path]) : undefined);
  return { customerId: idOf('customerId'), siteId: idOf('siteId') };
}

function FormFailure({ definition, failure }: { definition: Definition; failure: ApiError | undefined }) {
  const { t } = useTranslation();
  if (!failure || failure.status === 412) return null;
  const leaves = leavesOf(definition.fields);
  const isShown = failure.code === 'conflict' || failure.errors.some(({ field }) => leafAt(leaves, field));
  // What belongs to no field of the form, the form cannot mark.
  const isElsewhere = failure.errors.some(({ field }) => !leafAt(leaves, field));
  return (
    <Alert color="red" variant="light" icon={<Icon name="warning" />} role="alert" title={t('failure.title')}>
      {isShown && t('failure.fields')} {isElsewhere && t('fieldError.other')}
      {!isShown && !isElsewhere && failure.message}
    </Alert>
  );
}

function RequiredOneOf({ definition }: { definition: Definition }) {
  const { t } = useTranslation();
  return definition.requiredOneOf.map((names) => {
    const titles = names.map((name) => {
      const field = definition.fields.find((candidate) => candidate.name === name);
      return field ? titleOf(field) : name;
    });
    return (
      <Text key={names.join()} size="sm" c="dimmed" mb="sm">
        {t('form.oneOf', { fields: titles.join(', ') })}
      </Text>
    );
  });
}
