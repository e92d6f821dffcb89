// Actions for the ticked rows of a table.
import { Button, Group, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Definition } from '../api/definitions.ts';
import { ButtonLink } from '../frame/links.tsx';
import { Icon } from '../icons.tsx';
import { ExportMenu } from '../tables/export-menu.tsx';
import { countSelected, type Selection } from '../tables/selection.ts';
import classes from '../tables/table.module.css';
import { formatNumber } from '../texts/format.ts';

// Most visits to a table need neither dialog.
const BulkChange = lazy(async () => ({ default: (await import('./bulk-change.tsx')).BulkChange }));
const BulkDeletion = lazy(async () => ({ default: (await import('./bulk-deletion.tsx')).BulkDeletion }));

/** The service finds no more ids at a time. */
const maxExported = 300;

/** The service merges 20 into one. */
const maxMerged = 21;

interface BulkBarProps {
  definition: Definition;
  selection: Selection;
  parameters: Record<string, string | undefined>;
  loaded: number;
  total: number | undefined;
  /** Whether the table holds only some of the matches. */
  isTruncated: boolean;
  /** Ids of the shown columns. */
  shown: readonly string[];
  onSelectAll: () => void;
  onClear: () => void;
}

export default function BulkBar(props: BulkBarProps) {
  const { t } = useTranslation();
  const { definition, selection, parameters, loaded, total, isTruncated, shown, onSelectAll, onClear } =
    props;
  const [open, setOpen] = useState<'change' | 'deletion'>();
  const count = countSelected(selection, total);
  if (count === 0) return null;
  const hasMore = !selection.isAll && selection.ids.size >= loaded && (total ?? 0) > loaded;
  const { isAll, ids } = selection;
  const isExportable = isAll ? ids.size === 0 : ids.size <= maxExported;
  const isMergeable = !isAll && ids.size > 1 && ids.size <= maxMerged;
  const dialog = {
    definition,
    selection,
    parameters,
    count,
    onDone: onClear,
    onClose: () => setOpen(undefined),
  };
  return (
    <Group gap="xs" className={classes.bulk} role="region" aria-label={t('bulk.title')}>
      <Text size="sm" fw={550} aria-live="polite">
        {t('bulk.count', { count, formatted: formatNumber(count) })}
      </Text>
      {hasMore && (
        <Button size="compact-sm" variant="subtle" onClick={onSelectAll}>
          {t('bulk.selectAll', { count: total, formatted: formatNumber(total!) })}
        </Button>
      )}
      {isTruncated && selection.ids.size >= loaded && <Text size="sm">{t('bulk.notAll')}</Text>}
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Icon name="pencil" size={14} />}
        onClick={() => setOpen('change')}
      >
        {t('bulk.change')}
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Icon name="trash" size={14} />}
        onClick={() => setOpen('deletion')}
      >
        {t('actions.delete')}
      </Button>
      {isExportable && ['plants', 'containers'].includes(definition.collection) && (
        <ButtonLink
          size="compact-sm"
          variant="default"
          leftSection={<Icon name="qr" size={14} />}
          to={`/labels/${definition.collection}`}
          search={isAll ? parameters : { sort: parameters.sort, id: [...ids].join(',') }}
        >
          {t('labels.title')}
        </ButtonLink>
      )}
      {isMergeable && (
        <ButtonLink
          size="compact-sm"
          variant="default"
          to={`/data/${definition.collection}/${[...ids][0]}/merge`}
          search={{ with: [...ids].slice(1).join(',') }}
        >
          {t('attention.merge')}
        </ButtonLink>
      )}
      {isExportable && (
        <ExportMenu
          collection={definition.collection}
          parameters={isAll ? parameters : { sort: parameters.sort, id: [...ids].join(',') }}
          shown={shown}
        />
      )}
      <Button size="compact-sm" variant="subtle" color="gray" onClick={onClear}>
        {t('bulk.clear')}
      </Button>
      <Suspense>
        {open === 'change' && <BulkChange {...dialog} />}
        {open === 'deletion' && <BulkDeletion {...dialog} />}
      </Suspense>
    </Group>
  );
}
