// A word of a choice that the service does not know: what it means, or what happens to it.
import { Badge, Select, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { formatNumber } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import classes from './import.module.css';
import type { NameRowProps } from './names.ts';
import { rememberWord } from './remembered.ts';

interface WordRowProps extends NameRowProps {
  type: string;
  hasComment: boolean;
}

export function WordRow({ type, hasComment, found, choice, onChoice }: WordRowProps) {
  const { t } = useTranslation();
  const { column, name, rows, ids, rememberedId } = found;
  const { field } = column;
  const chosen = typeof choice === 'object' ? choice.id : choice === 'assign' ? 'auto' : choice;
  const value = chosen ?? rememberedId ?? ids[0] ?? 'auto';
  const choices = field.choices?.map((one) => ({
    value: one.value,
    label: one.title[currentLanguage()],
  })) ?? [
    { value: 'true', label: t('record.yes') },
    { value: 'false', label: t('record.no') },
  ];
  const state = chosen ? 'assigned' : rememberedId ? 'remembered' : ids.length > 0 ? 'guessed' : 'unknown';

  function choose(next: string) {
    const isMeaning = next !== 'skip' && next !== 'auto';
    onChoice(next === 'auto' ? 'assign' : next === 'empty' || next === 'skip' ? next : { id: next });
    rememberWord(type, found, isMeaning ? next : undefined);
  }

  return (
    <li>
      <span className={classes.columnTitle}>
        <Text fw={550} size="sm" component="span" className={classes.fileName}>
          {name}
        </Text>
        <Text size="xs" c="dimmed" component="span">
          {column.titles[currentLanguage()]} ·{' '}
          {t('import.inRows', { count: rows, formatted: formatNumber(rows) })}
        </Text>
        <span className={classes.nameState}>
          <Badge size="sm" color={state === 'unknown' ? 'yellow' : 'leaf'} variant="light">
            {t(`import.names.${state}`)}
          </Badge>
        </span>
      </span>
      <Select
        aria-label={t('import.names.meaning', { name })}
        allowDeselect={false}
        data={[
          ...choices,
          { value: 'auto', label: t(hasComment ? 'import.names.comment' : 'import.names.open') },
          ...(field.isRequired ? [] : [{ value: 'empty', label: t('import.names.empty') }]),
          { value: 'skip', label: t('import.names.skip') },
        ]}
        value={value}
        onChange={(next) => next && choose(next)}
      />
      <span />
    </li>
  );
}
