// Cells that the service has not taken: the way to each of them, to send them again, and to take them back.
import { Button, Group, Text } from '@mantine/core';
import { Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { type Definition, type Entity, labelOf, leavesOf, titleOf } from '../api/definitions.ts';
import { Conflict } from '../forms/conflict.tsx';
import { toPatch, toValues, type Values } from '../forms/form-values.ts';
import { tellFailure } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';
import { decimalSeparator, formatNumber } from '../texts/format.ts';
import { cellKey, type PendingCell, withValues } from './cell-edit.ts';
import classes from './cells.module.css';
import type { CellEdits } from './use-cell-edits.ts';

interface UnsavedCellsProps {
  definition: Definition;
  edits: CellEdits;
  onShow: (cell: PendingCell) => void;
}

export default function UnsavedCells({ definition, edits, onShow }: UnsavedCellsProps) {
  const { t } = useTranslation();
  const [place, setPlace] = useState(0);
  const [conflict, setConflict] = useState<{ cell: PendingCell; current: Entity | undefined }>();
  const { open } = edits;
  const cell = open[place % Math.max(1, open.length)];
  if (!cell) return null;
  const isSendable = open.some(({ state }) => state === 'unsent');
  const disputed = open.find(({ state }) => state === 'conflict');
  const field = leavesOf(definition.fields).find(
    ({ path }) => path === cell.values[0]?.[0] || path === cell.column,
  );
  const compare = async (cell: PendingCell) => {
    const path = `/${definition.collection}/${cell.entity.id}`;
    setConflict({ cell, current: await call<Entity>('GET', path).catch(() => undefined) });
  };
  return (
    <Group className={classes.bar} gap="xs" role="region" aria-label={t('cells.unsavedTitle')}>
      <Icon name="warning" size={16} />
      <Text size="sm" fw={550} aria-live="polite">
        {t('cells.unsaved', { count: open.length, formatted: formatNumber(open.length) })}
      </Text>
      <Text size="sm">
        {`${labelOf(definition, cell.entity)}${field ? `, ${titleOf(field)}` : ''}: ${cell.message ?? ''}`}
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => {
          onShow(cell);
          setPlace(place + 1);
        }}
      >
        {t('cells.show')}
      </Button>
      {disputed && (
        <Button size="compact-sm" variant="default" onClick={() => compare(disputed)}>
          {t('cells.compare')}
        </Button>
      )}
      {isSendable && (
        <Button size="compact-sm" onClick={() => edits.retry().catch(tellFailure)}>
          {t('actions.retry')}
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" color="gray" onClick={() => edits.discard()}>
        {t('cells.discard')}
      </Button>
      <Suspense>
        {conflict && (
          <CellConflict
            key={cellKey(conflict.cell.entity.id, conflict.cell.column)}
            {...{ definition, edits, ...conflict }}
            onClose={() => setConflict(undefined)}
          />
        )}
      </Suspense>
    </Group>
  );
}

interface CellConflictProps {
  definition: Definition;
  edits: CellEdits;
  cell: PendingCell;
  current: Entity | undefined;
  onClose: () => void;
}

/** Offers the same choice as a form. */
function CellConflict({ definition, edits, cell, current, onClose }: CellConflictProps) {
  const separator = decimalSeparator();
  const { entity } = cell;
  async function save(values: Values) {
    const body = toPatch(definition, toValues(definition, current!, separator), values, separator);
    const path = `/${definition.collection}/${entity.id}`;
    const saved = await call<Entity>('PATCH', path, { body, version: current!.version });
    edits.discard([cell]);
    onClose();
    await edits.show([saved]);
  }
  return (
    <Conflict
      definition={definition}
      name={labelOf(definition, entity)}
      before={toValues(definition, entity, separator)}
      mine={toValues(definition, withValues(entity, [cell]), separator)}
      current={current}
      onSave={save}
      onTakeTheirs={() => {
        edits.discard([cell]);
        onClose();
        edits.show([current!]).catch(tellFailure);
      }}
      onClose={onClose}
    />
  );
}
