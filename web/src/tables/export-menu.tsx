// The table as a file: what the filters find, with the columns that are shown or with all.
import { ActionIcon } from '@mantine/core';
import { lazyRouteComponent } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { OnDemand } from '../frame/on-demand.tsx';
import { Icon } from '../icons.tsx';
import type { ExportMenuProps } from './export-items.tsx';

const ExportItems = lazyRouteComponent(() => import('./export-items.tsx'), 'ExportItems');

export function ExportMenu(props: ExportMenuProps) {
  const { t } = useTranslation();
  return (
    <OnDemand
      preload={() => ExportItems.preload?.()}
      button={
        <ActionIcon size={36} variant="default" aria-label={t('table.export')} title={t('table.export')}>
          <Icon name="download" />
        </ActionIcon>
      }
    >
      {(target) => <ExportItems target={target} {...props} />}
    </OnDemand>
  );
}
