// Where each column of the file goes.
import { Select, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ImportColumn } from '../../../core/columns.ts';
import type { ChosenColumns } from '../../../core/import-lines.ts';
import { Card } from '../frame/card.tsx';
import { Icon } from '../icons.tsx';
import { currentLanguage } from '../texts/language.ts';
import classes from './import.module.css';
import type { TableFile } from './table-file.ts';

interface ColumnChoiceProps {
  table: TableFile;
  known: readonly ImportColumn[];
  columns: ChosenColumns;
  onChange: (columns: ChosenColumns) => void;
}

export function ColumnChoice({ table, known, columns, onChange }: ColumnChoiceProps) {
  const { t } = useTranslation();
  const chosen = new Set(columns.map((column) => column?.path));
  const language = currentLanguage();
  return (
    <Card title={t('import.columns')} icon="columns">
      <Text size="sm" c="dimmed" mb="sm">
        {t('import.columnsText', { count: columns.filter(Boolean).length, total: table.titles.length })}
      </Text>
      <ul className={classes.columns}>
        {table.titles.map((title, index) => {
          const column = columns[index];
          const name = title || t('import.untitled', { number: index + 1 });
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place; titles may be there twice.
            <li key={index}>
              <span className={classes.columnTitle}>
                <Text fw={550} size="sm" component="span" lineClamp={2}>
                  {name}
                </Text>
                <Text size="xs" c="dimmed" component="span" truncate>
                  {examplesOf(table, index) || '–'}
                  {column?.field.kind === 'flag' && table.onlyYes[index] && ` · ${t('import.emptyIsNo')}`}
                </Text>
              </span>
              <span className={classes.arrow}>
                <Icon name="right" size={16} />
              </span>
              <Select
                aria-label={t('import.target', { title: name })}
                placeholder={t('import.ignored')}
                searchable
                clearable
                clearButtonProps={{ 'aria-label': `${t('import.ignore')}: ${name}` }}
                nothingFoundMessage={t('form.noResult')}
                data={known.map(({ path, titles }) => ({
                  value: path,
                  label: titles[language],
                  disabled: path !== column?.path && chosen.has(path),
                }))}
                value={column?.path ?? null}
                onChange={(path) =>
                  onChange(
                    columns.with(
                      index,
                      known.find((one) => one.path === path),
                    ),
                  )
                }
              />
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

function examplesOf({ head }: TableFile, index: number): string {
  const examples = head.map(({ cells }) => cells[index]?.trim()).filter(Boolean);
  return [...new Set(examples)].slice(0, 3).join(', ');
}
