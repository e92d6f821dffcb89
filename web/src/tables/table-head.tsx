// The heads of a table: the title, the sorting and the width of each column.
import { Checkbox, UnstyledButton } from '@mantine/core';
import type { PointerEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { type Definition, leavesOf, titleOf } from '../api/definitions.ts';
import { useIsPrinting } from '../frame/printing.ts';
import { Icon } from '../icons.tsx';
import { type Column, type Columns, isNumber, widthOf } from './columns.ts';
import type { Ticks } from './selection.ts';
import classes from './table.module.css';

const narrowest = 60;

interface HeadProps {
  definition: Definition;
  columns: Columns;
  sort: string;
  onSort: (sort: string) => void;
  ticks: Ticks | undefined;
  shown: Column[];
  widths: Record<string, number>;
  isHidden: boolean;
}

export function Head({ definition, columns, shown, widths, sort, onSort, ticks, isHidden }: HeadProps) {
  const { t } = useTranslation();
  // Chromium leaves buttons out of heads that it repeats on the next sheet.
  const isPrinting = useIsPrinting();
  const name = leavesOf(definition.fields).find(({ path }) => path === definition.nameField);
  const heads: Column[] = [
    { id: definition.nameField, title: titleOf(name ?? definition), sort: 'name' },
    ...shown,
  ];
  return (
    <thead className={isHidden ? classes.hiddenHead : classes.head}>
      <tr>
        {ticks && (
          <th scope="col" className={classes.tick}>
            <Checkbox
              size="xs"
              aria-label={t('table.tickAll')}
              checked={ticks.state === 'all'}
              indeterminate={ticks.state === 'some'}
              onChange={ticks.toggleAll}
            />
          </th>
        )}
        {heads.map((column) => {
          const direction =
            sort === column.sort ? 'ascending' : sort === `-${column.sort}` ? 'descending' : undefined;
          return (
            <th
              key={column.id}
              scope="col"
              aria-sort={direction}
              data-number={isNumber(column) || undefined}
              style={widthOf(widths, column.id)}
            >
              {column.sort && !isPrinting && !isHidden ? (
                <UnstyledButton
                  className={classes.sort}
                  onClick={() => onSort(direction === 'ascending' ? `-${column.sort}` : column.sort!)}
                >
                  {column.title}
                  <Icon
                    name={
                      direction === 'ascending' ? 'up' : direction === 'descending' ? 'descending' : 'sort'
                    }
                    size={14}
                  />
                </UnstyledButton>
              ) : (
                column.title
              )}
              {!isHidden && (
                <ResizeHandle title={column.title} onResize={(width) => columns.resize(column.id, width)} />
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** The right edge of a column's head: dragged, or moved with the arrow keys. */
function ResizeHandle({ title, onResize }: { title: string; onResize: (width: number) => void }) {
  const { t } = useTranslation();
  const begin = (event: PointerEvent<HTMLButtonElement>) => {
    const handle = event.currentTarget;
    const head = handle.parentElement!;
    const grip = head.getBoundingClientRect().right - event.clientX;
    const drag = ({ clientX }: globalThis.PointerEvent) =>
      onResize(Math.max(narrowest, Math.round(clientX + grip - head.getBoundingClientRect().left)));
    handle.setPointerCapture(event.pointerId);
    handle.addEventListener('pointermove', drag);
    handle.addEventListener('lostpointercapture', () => handle.removeEventListener('pointermove', drag), {
      once: true,
    });
  };
  return (
    <button
      type="button"
      className={classes.resize}
      aria-label={t('table.width', { title })}
      tabIndex={-1}
      onPointerDown={begin}
      onKeyDown={({ key, currentTarget }) => {
        const step = key === 'ArrowRight' ? 20 : key === 'ArrowLeft' ? -20 : 0;
        if (step !== 0)
          onResize(Math.max(narrowest, Math.round(currentTarget.parentElement!.offsetWidth + step)));
      }}
    />
  );
}
