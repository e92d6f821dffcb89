// Shows the file and how it is read: its sheet, its titles, and the kind of its rows.
import { Button, Select, Text, Title } from '@mantine/core';
import i18next from 'i18next';
import { useTranslation } from 'react-i18next';
import { type Definition, pluralOf, useDefinitions } from '../api/definitions.ts';
import { formatNumber } from '../texts/format.ts';
import { countLeftOut } from './check/use-check.ts';
import classes from './import.module.css';
import type { OpenedFile } from './reader.ts';

const separatorNames = { ';': 'semicolon', ',': 'comma', '\t': 'tab' } as const;

interface FileBarProps {
  opened: OpenedFile;
  definition: Definition | undefined;
  isRunning: boolean;
  /** Whether the columns are as somebody chose them for an earlier file. */
  isRemembered: boolean;
  onDefinition: (name: string | null) => void;
  onForget: () => void;
  onSheet: (name: string) => void;
  onTitleRow: (row: number) => void;
  onClose: () => void;
}

export function FileBar({ opened, definition, isRunning, isRemembered, ...actions }: FileBarProps) {
  const { t } = useTranslation();
  const definitions = useDefinitions();
  const { table, name } = opened;
  const { sheets = [] } = table;
  const common = { size: 'xs', allowDeselect: false, disabled: isRunning } as const;
  return (
    <section className={`panel ${classes.fileBar}`} aria-label={name}>
      <div className={classes.fileFacts}>
        <Title order={2} size="h4" className={classes.fileName}>
          {name}
        </Title>
        <Text size="xs" c="dimmed">
          {factsOf(opened).join(' · ')}
        </Text>
        {isRemembered && (
          <Text size="xs" c="dimmed">
            {t('import.remembered')}{' '}
            <Button size="compact-xs" variant="subtle" disabled={isRunning} onClick={actions.onForget}>
              {t('import.names.forget')}
            </Button>
          </Text>
        )}
      </div>
      {sheets.length > 1 && (
        <Select
          {...common}
          label={t('import.sheet')}
          data={sheets}
          value={table.sheet ?? null}
          onChange={(sheet) => sheet && actions.onSheet(sheet)}
        />
      )}
      <Select
        {...common}
        label={t('import.titleRow')}
        data={[
          ...table.firstRows.map(({ number, cells }) => ({
            value: String(number),
            label: t('import.titleRowNumber', { number, titles: cells.filter(Boolean).join(', ') }),
          })),
          { value: '0', label: t('import.noTitleRow') },
        ]}
        value={String(table.titleRow)}
        onChange={(row) => row && actions.onTitleRow(Number(row))}
      />
      <Select
        {...common}
        label={t('import.what')}
        placeholder={t('form.choose')}
        data={definitions.map((candidate) => ({ value: candidate.name, label: pluralOf(candidate) }))}
        value={definition?.name ?? null}
        onChange={actions.onDefinition}
      />
      <Button size="xs" variant="default" disabled={isRunning} onClick={actions.onClose}>
        {t('import.other')}
      </Button>
    </section>
  );
}

function factsOf({ table, size }: OpenedFile): string[] {
  const { t } = i18next;
  const count = table.rowCount + countLeftOut(table);
  return [
    t('import.rows', { count, formatted: formatNumber(count) }),
    t('import.columnCount', { count: table.titles.length }),
    size < 1_000_000
      ? `${formatNumber(Math.max(1, Math.round(size / 1000)))} kB`
      : `${formatNumber(size / 1_000_000, { maximumFractionDigits: 1 })} MB`,
    ...(table.encoding
      ? [
          t(`import.separators.${separatorNames[table.separator]}`),
          table.encoding === 'windows-1252' ? 'Windows-1252' : table.encoding.toUpperCase(),
        ]
      : [t('import.workbook')]),
  ];
}
