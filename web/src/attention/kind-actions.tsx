// All entries of one kind at once: one value for all of them, or all left as they are.
import { Button, Group, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AttentionCode } from '../../../core/definition/codes.ts';
import { ApiError, call, queryString } from '../api/client.ts';
import { type Definition, type Entity, leavesOf, nounOf, useDefinitions } from '../api/definitions.ts';
import { type AttentionEntry, type Page, useForgetReadings } from '../api/records.ts';
import { changeAll } from '../bulk/bulk.ts';
import { FormDialog } from '../dialogs/form-dialog.tsx';
import { FieldInput } from '../forms/field-input.tsx';
import { findLocalErrors, startValues, toPatch } from '../forms/form-values.ts';
import { tell } from '../frame/notices.tsx';
import { undoImport } from '../import/import-runs.ts';
import { decimalSeparator, formatNumber } from '../texts/format.ts';

interface Kind {
  resource: string;
  field: string;
  code: AttentionCode;
}

const fixedTogether: readonly AttentionCode[] = ['no_employee', 'validity_ended'];
/** Duplicates, and what the program judges. */
const leftOneByOne: readonly AttentionCode[] = [
  'probable_duplicate',
  'no_position',
  'closed_visit',
  'plan_failed',
];

/** `kind`: that of the first entry. `resource`: the one that the list is filtered by. */
export function KindActions({ kind, resource: shown }: { kind: Kind; resource: string | undefined }) {
  const { t } = useTranslation();
  const [dialog, setDialog] = useState<'fix' | 'leave'>();
  const definition = useDefinitions().find(({ name }) => name === kind.resource);
  if (!definition || leftOneByOne.includes(kind.code)) return null;
  const { resource, field, code } = kind;
  const props = { kind: { resource, field, code }, definition, onClose: () => setDialog(undefined) };
  return (
    <Group gap="sm" mb="md" className="screen-only">
      {fixedTogether.includes(code) && (
        <Button size="sm" variant="light" onClick={() => setDialog('fix')}>
          {t('attention.fixAll')}
        </Button>
      )}
      <Button size="sm" variant="default" onClick={() => setDialog('leave')}>
        {t('attention.leaveAll')}
      </Button>
      {dialog === 'fix' && <FixAll {...props} />}
      {dialog === 'leave' && <LeaveAll code={code} resource={shown} onClose={props.onClose} />}
    </Group>
  );
}

interface Filters {
  code: AttentionCode;
  resource: string | undefined;
}

/** The next field with entries of the code: several fields can have one. */
async function findKind({ code, resource }: Filters, known: readonly Kind[]): Promise<Kind | undefined> {
  const { data } = await call<Page<AttentionEntry>>(
    'GET',
    `/attention${queryString({ code, resource, limit: 50 })}`,
  );
  const found = data.find(
    (entry) => !known.some((kind) => kind.resource === entry.resource && kind.field === entry.field),
  );
  return found && { resource: found.resource, field: found.field, code };
}

interface DialogProps {
  kind: Kind;
  definition: Definition;
  onClose: () => void;
}

function LeaveAll({ code, resource, onClose }: Filters & { onClose: () => void }) {
  const { t } = useTranslation();
  const forgetReadings = useForgetReadings();
  const [reason, setReason] = useState('');
  const leaving = useMutation({
    mutationFn: async () => {
      const kinds: Kind[] = [];
      let [left, since]: [number, string | undefined] = [0, undefined];
      for (let kind = await findKind({ code, resource }, kinds); kind; ) {
        kinds.push(kind);
        let after: string | null = null;
        do {
          const part: { left: number; next: string | null; at: string } = await call(
            'POST',
            '/attention/left/all',
            { body: { ...kind, after, ...(reason.trim() && { reason: reason.trim() }) } },
          );
          left += part.left;
          since ??= part.at;
          after = part.next;
        } while (after !== null);
        kind = await findKind({ code, resource }, kinds);
      }
      return { left, kinds, since };
    },
    onSuccess: async ({ left, kinds, since }) => {
      tell(t('attention.leftAll', { count: left, formatted: formatNumber(left) }), {
        label: t('undo.undo'),
        run: async () => {
          for (const kind of kinds)
            await call('POST', '/attention/reopened/all', { body: { ...kind, since } });
          await forgetReadings();
          tell(t('undo.done'));
        },
      });
      onClose();
      await forgetReadings();
    },
  });
  return (
    <FormDialog
      title={t('attention.leaveAllTitle', { kind: t(`attention.codes.${code}`) })}
      action={t('attention.leaveAll')}
      isPending={leaving.isPending}
      error={leaving.error}
      onSubmit={() => leaving.mutate()}
      onClose={onClose}
    >
      <TextInput
        data-autofocus
        label={t('attention.reason')}
        placeholder={t('attention.reasonExample')}
        maxLength={150}
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
    </FormDialog>
  );
}

function FixAll({ kind, definition, onClose }: DialogProps) {
  const { t } = useTranslation();
  const forgetReadings = useForgetReadings();
  const separator = decimalSeparator();
  const empty = startValues(definition, separator, {});
  const [values, setValues] = useState(empty);
  const field = leavesOf(definition.fields).find(({ path }) => path === kind.field);
  const isEmpty = !values[kind.field] || findLocalErrors(definition, values, separator).has(kind.field);
  const fixing = useMutation({
    mutationFn: async () => {
      const ids = await readIds(kind);
      const patch = toPatch(definition, empty, values, separator);
      // A change by id needs nothing else of a record.
      return changeAll(definition, ids as Entity[], patch);
    },
    onSuccess: async ({ done, failed, importId }) => {
      onClose();
      const what = nounOf(definition, done === 1 ? 'one' : 'many');
      const text = t('attention.fixedAll', { formatted: formatNumber(done), what });
      const undo = async () => {
        const { kept } = await undoImport(importId!);
        await forgetReadings();
        if (kept > 0) throw new ApiError(0, { message: t('grid.undoFailed', { count: kept }) });
        tell(t('undo.done'));
      };
      tell(
        failed.length > 0 ? `${text}. ${t('attention.someFailed', { count: failed.length })}` : text,
        importId ? { label: t('undo.undo'), run: undo } : undefined,
      );
      await forgetReadings();
    },
  });
  if (!field) return null;
  return (
    <FormDialog
      title={t('attention.fixAllTitle', { kind: t(`attention.codes.${kind.code}`) })}
      action={t('attention.fixAll')}
      isDisabled={isEmpty}
      isPending={fixing.isPending}
      error={fixing.error}
      onSubmit={() => fixing.mutate()}
      onClose={onClose}
    >
      <Text size="sm">{t('attention.fixAllText')}</Text>
      <FieldInput
        field={field}
        value={values[field.path]}
        onChange={(value) => setValues({ ...values, [field.path]: value })}
        error={undefined}
      />
    </FormDialog>
  );
}

async function readIds({ resource, field, code }: Kind): Promise<{ id: string }[]> {
  const found: { id: string }[] = [];
  let cursor: string | undefined;
  do {
    const page = await call<Page<AttentionEntry>>(
      'GET',
      `/attention${queryString({ code, resource, cursor, limit: 500 })}`,
    );
    found.push(...page.data.flatMap((entry) => (entry.field === field ? [{ id: entry.id }] : [])));
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
  return found;
}
