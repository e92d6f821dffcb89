// The head of a column: its title in the file, and where it goes.
import { Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ImportColumn } from '../../../../core/table/columns.ts';
import { currentLanguage } from '../../texts/language.ts';
import classes from '../import.module.css';

interface ColumnHeadProps {
  title: string;
  index: number;
  known: readonly ImportColumn[];
  taken: ReadonlySet<string | undefined>;
  column: ImportColumn | undefined;
  isOnlyYes: boolean;
  onChange: (column: ImportColumn | undefined) => void;
}

export function ColumnHead({ title, index, known, taken, column, isOnlyYes, onChange }: ColumnHeadProps) {
  const { t } = useTranslation();
  const name = title || t('import.untitled', { number: index + 1 });
  return (
    <th scope="col" data-ignored={column ? undefined : true}>
      <span className={classes.headTitle} title={name}>
        {name}
        {column?.field.kind === 'flag' && isOnlyYes && ` · ${t('import.emptyIsNo')}`}
      </span>
      <Select
        size="xs"
        className={classes.headChoice}
        comboboxProps={{ width: 'max-content' }}
        aria-label={t('import.target', { title: name })}
        placeholder={t('import.ignored')}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': `${t('import.ignore')}: ${name}` }}
        nothingFoundMessage={t('form.noResult')}
        data={known.map(({ path, titles }) => ({
          value: path,
          label: titles[currentLanguage()],
          disabled: path !== column?.path && taken.has(path),
        }))}
        value={column?.path ?? null}
        onChange={(path) => onChange(known.find((one) => one.path === path))}
      />
    </th>
  );
}
