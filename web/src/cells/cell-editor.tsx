// Edits one cell with the field's own input, over the cell.
import { type FocusEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Definition, type Entity, type Field, titleOf } from '../api/definitions.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { FieldEditor } from '../forms/field-editor.tsx';
import { FieldInput, IdPrefix } from '../forms/field-input.tsx';
import { findLocalErrors, toJson, toValues } from '../forms/form-values.ts';
import { WithCreation } from '../forms/picker-creation.tsx';
import { decimalSeparator } from '../texts/format.ts';
import { type CellEdit, type PendingCell, withValues } from './cell-edit.ts';
import classes from './cells.module.css';

type Move = [rows: number, columns: number];

interface CellEditorProps {
  definition: Definition;
  entity: Entity;
  column: string;
  fields: readonly Field[];
  typed: string | undefined;
  pending: PendingCell | undefined;
  onFinish: (edit: CellEdit | undefined, move: Move | undefined) => void;
}

export function CellEditor(props: CellEditorProps) {
  const { definition, entity, column, fields, onFinish } = props;
  const [field] = fields;
  if (fields.length === 1 && field!.kind !== 'list') return <InputEditor {...props} field={field!} />;
  const whole = field!.kind === 'list' ? field! : definition.fields.find(({ path }) => path === column)!;
  const close = () => onFinish(undefined, [0, 0]);
  return (
    <Dialog title={titleOf(whole)} size="lg" onClose={close}>
      <FieldEditor definition={definition} entity={entity} field={whole} onDone={close} />
    </Dialog>
  );
}

function InputEditor({
  definition,
  entity,
  column,
  field,
  typed,
  pending,
  onFinish,
}: CellEditorProps & { field: Field }) {
  const { t } = useTranslation();
  const separator = decimalSeparator();
  const seen = pending?.state === 'saving' ? withValues(entity, [pending]) : entity;
  const stored = toValues(definition, seen, separator)[field.path];
  const isWritten = !field.reference && ['text', 'integer', 'decimal', 'double', 'date'].includes(field.kind);
  const kept = pending && pending.state !== 'saving' && isWritten ? pending.shown : stored;
  const [value, setValue] = useState<unknown>(isWritten && typed !== undefined ? typed : kept);
  const box = useRef<HTMLDivElement>(null);
  const isDone = useRef(false);

  useEffect(() => {
    const input = box.current?.querySelector<HTMLInputElement>('input, textarea');
    input?.focus();
    if (typed === undefined) input?.select();
    // A choice opens its list immediately.
    if (input?.getAttribute('aria-haspopup') === 'listbox') input.click();
  }, [typed]);

  function finish(last: unknown, move: Move | undefined): void {
    if (isDone.current) return;
    isDone.current = true;
    const isChanged = JSON.stringify(last) !== JSON.stringify(stored);
    if (!isChanged && !pending) {
      onFinish(undefined, move);
      return;
    }
    const wrong = findLocalErrors(definition, { [field.path]: last }, separator).get(field.path);
    onFinish(
      {
        entity,
        column,
        shown: String(last ?? ''),
        values: [[field.path, toJson(field, last, separator) ?? null]],
        ...(wrong && { error: t(wrong) }),
      },
      move,
    );
  }

  function onKeyDown(event: KeyboardEvent): void {
    const isListOpen = (event.target as HTMLElement).ariaExpanded === 'true';
    const isMultiline = event.target instanceof HTMLTextAreaElement && (event.shiftKey || event.altKey);
    event.stopPropagation();
    if (event.key === 'Escape') {
      if (isListOpen) return;
      event.preventDefault();
      isDone.current = true;
      onFinish(undefined, [0, 0]);
    } else if (event.key === 'Tab') {
      event.preventDefault();
      finish(value, [0, event.shiftKey ? -1 : 1]);
    } else if (event.key === 'Enter' && !isListOpen && !isMultiline) {
      event.preventDefault();
      finish(value, [event.shiftKey ? -1 : 1, 0]);
    }
  }

  function onBlur({ relatedTarget }: FocusEvent): void {
    const next = relatedTarget as HTMLElement | null;
    // Lists, calendars and dialogs of the input stand at the end of the page.
    if (!next || box.current?.contains(next) || next.closest('[data-portal], [role=dialog]')) return;
    finish(value, undefined);
  }

  const isChosen = field.kind === 'choice' || field.reference !== undefined;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the input inside has the focus.
    <div ref={box} className={classes.editor} onKeyDown={onKeyDown} onBlur={onBlur}>
      <IdPrefix value="cell">
        <WithCreation>
          <FieldInput
            field={field}
            value={value}
            onChange={(next) => {
              setValue(next);
              if (isChosen) finish(next, [0, 0]);
            }}
            error={pending?.message}
            near={{
              customerId: entity.customerId as string | undefined,
              siteId: entity.siteId as string | undefined,
            }}
            currency={entity.currency}
          />
        </WithCreation>
      </IdPrefix>
    </div>
  );
}
