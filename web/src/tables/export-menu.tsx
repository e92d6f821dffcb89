// The table as a file: all rows that the filters find, with the shown columns or with all.
import { ActionIcon } from '@mantine/core';
import { lazyRouteComponent } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/client.ts';
import { tellFailure } from '../frame/notices.tsx';
import { OnDemand } from '../frame/on-demand.tsx';
import { Icon } from '../icons.tsx';
import type { ExportMenuProps } from './export-items.tsx';

const ExportItems = lazyRouteComponent(() => import('./export-items.tsx'), 'ExportItems');

interface Props extends ExportMenuProps {
  /** Whether the table holds only some of the matches: a file is complete or not made. */
  isTruncated?: boolean;
}

export function ExportMenu({ isTruncated = false, ...props }: Props) {
  const { t } = useTranslation();
  const refuse = () => tellFailure(new ApiError(0, { message: t('table.exports.tooMany') }));
  const button = (
    <ActionIcon
      size={36}
      variant="default"
      aria-label={t('table.export')}
      title={t('table.export')}
      onClick={isTruncated ? refuse : undefined}
    >
      <Icon name="download" />
    </ActionIcon>
  );
  if (isTruncated) return button;
  return (
    <OnDemand preload={() => ExportItems.preload?.()} button={button}>
      {(target) => <ExportItems target={target} {...props} />}
    </OnDemand>
  );
}
