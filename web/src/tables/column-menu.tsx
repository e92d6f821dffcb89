// The menu for a table's columns, their order, and the height of its rows.
import { Button } from '@mantine/core';
import { lazyRouteComponent } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { OnDemand } from '../frame/on-demand.tsx';
import { Icon } from '../icons.tsx';
import type { Columns } from './columns.ts';

const ColumnChoice = lazyRouteComponent(() => import('./column-choice.tsx'), 'ColumnChoice');

export function ColumnMenu({ columns }: { columns: Columns }) {
  const { t } = useTranslation();
  return (
    <OnDemand
      preload={() => ColumnChoice.preload?.()}
      button={
        <Button variant="default" leftSection={<Icon name="columns" size={16} />} visibleFrom="sm">
          {t('table.columns')}
        </Button>
      }
    >
      {(target) => <ColumnChoice target={target} columns={columns} />}
    </OnDemand>
  );
}
