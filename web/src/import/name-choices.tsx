// Names that nothing answers to, or several do: each listed once, to be assigned by hand.
import { Badge, Button, Select, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ReferencePicker } from '../forms/reference-picker.tsx';
import { tellFailure } from '../frame/notices.tsx';
import { formatNumber } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import classes from './import.module.css';
import {
  type FoundName,
  isWord,
  keyOf,
  type NameChoice,
  type NameChoices,
  type NameRowProps,
  rememberName,
} from './names.ts';
import { Section } from './section.tsx';
import { WordRow } from './word-row.tsx';

const shownNames = 25;

interface NameChoicesProps {
  /** The resource of the rows in the file. */
  type: string;
  hasComment: boolean;
  names: readonly FoundName[];
  choices: NameChoices;
  onChange: (choices: NameChoices) => void;
}

export function NameChoicesCard({ type, hasComment, names, choices, onChange }: NameChoicesProps) {
  const { t } = useTranslation();
  const [shown, setShown] = useState(shownNames);
  const open = names.filter((found) => isOpen(found, choices));
  return (
    <Section title={t('import.names.title')} icon="search" isNeeded={open.length > 0}>
      <Text size="sm" c="dimmed" mb="sm" role="status">
        {open.length > 0
          ? t('import.names.text', { count: open.length, formatted: formatNumber(open.length) })
          : t('import.names.allAssigned')}
      </Text>
      <ul className={classes.names}>
        {names.slice(0, shown).map((found) => {
          const key = keyOf(found);
          const row = {
            found,
            choice: choices.get(key),
            onChoice: (choice: NameChoice) => onChange(new Map([...choices, [key, choice]])),
          };
          return isWord(found) ? (
            <WordRow key={key} {...row} type={type} hasComment={hasComment} />
          ) : (
            <NameRow key={key} {...row} />
          );
        })}
      </ul>
      {names.length > shown && (
        <Button variant="default" mt="md" onClick={() => setShown(shown + shownNames)}>
          {t('actions.more')}
        </Button>
      )}
    </Section>
  );
}

function isOpen(found: FoundName, choices: NameChoices): boolean {
  const choice = choices.get(keyOf(found));
  const isMeant = found.rememberedId !== undefined || (isWord(found) && found.ids.length > 0);
  return choice === 'assign' || (choice === undefined && !isMeant);
}

function NameRow({ found, choice, onChoice }: NameRowProps) {
  const { t } = useTranslation();
  const { column, name, owner, rows, ids, rememberedId } = found;
  const isRemembered = choice === undefined && rememberedId !== undefined;
  const id = typeof choice === 'object' ? choice.id : isRemembered ? rememberedId : undefined;
  const mode = typeof choice === 'string' ? choice : 'assign';
  const title = column.titles[currentLanguage()];

  function assign(next: string | undefined) {
    onChoice(next === undefined ? 'assign' : { id: next });
    rememberName(found, next).catch(tellFailure);
  }

  return (
    <li>
      <span className={classes.columnTitle}>
        <Text fw={550} size="sm" component="span" className={classes.fileName}>
          {owner === undefined ? name : `${name} · ${owner}`}
        </Text>
        <Text size="xs" c="dimmed" component="span">
          {title} · {t('import.inRows', { count: rows, formatted: formatNumber(rows) })}
        </Text>
        <span className={classes.nameState}>
          <Badge size="sm" color={id ? 'leaf' : 'yellow'} variant="light">
            {isRemembered
              ? t('import.names.remembered')
              : id
                ? t('import.names.assigned')
                : ids.length > 0
                  ? t('import.names.several', { count: ids.length })
                  : t('import.names.unknown')}
          </Badge>
          {isRemembered && (
            <Button size="compact-xs" variant="subtle" onClick={() => assign(undefined)}>
              {t('import.names.forget')}
            </Button>
          )}
        </span>
      </span>
      <Select
        aria-label={t('import.names.what', { name })}
        allowDeselect={false}
        data={[
          { value: 'assign', label: t('import.names.assign') },
          ...(column.field.isRequired ? [] : [{ value: 'empty', label: t('import.names.empty') }]),
          { value: 'skip', label: t('import.names.skip') },
        ]}
        value={mode}
        onChange={(next) => onChoice((next ?? 'assign') as NameChoice)}
      />
      {mode === 'assign' ? (
        <ReferencePicker
          aria-label={t('import.names.target', { name })}
          resources={column.field.reference!.resources}
          suggested={name}
          value={id}
          onChange={assign}
        />
      ) : (
        <span />
      )}
    </li>
  );
}
