// Saved views of a table: its filters, order and columns under a name, for oneself or for everybody.
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazyRouteComponent } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Definition } from '../api/definitions.ts';
import { OnDemand } from '../frame/on-demand.tsx';
import { Icon } from '../icons.tsx';
import { type SavedView, viewsQuery } from './views.ts';

const ViewItems = lazyRouteComponent(() => import('./view-items.tsx'), 'ViewItems');

interface ViewMenuProps {
  definition: Definition;
  /** The query string of the table as it is now. */
  search: string;
  columns: string[];
  onChoose: (view: SavedView) => void;
}

export function ViewMenu({ definition, search, columns, onChoose }: ViewMenuProps) {
  const { t } = useTranslation();
  const { data } = useQuery(viewsQuery);
  const views = (data?.data ?? []).filter(({ resource }) => resource === definition.name);
  const current = views.find((view) => view.search === search && view.columns.join() === columns.join());
  return (
    <OnDemand
      preload={() => ViewItems.preload?.()}
      button={
        <Button variant="default" leftSection={<Icon name="bookmark" size={16} />} visibleFrom="sm">
          {current?.name ?? t('views.title')}
        </Button>
      }
    >
      {(target) => (
        <ViewItems
          target={target}
          views={views}
          current={current}
          shown={{ resource: definition.name, search, columns }}
          onChoose={onChoose}
        />
      )}
    </OnDemand>
  );
}
