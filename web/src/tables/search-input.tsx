// The search field of a table. "/" leads there.
import { TextInput } from '@mantine/core';
import { useDebouncedCallback, useHotkeys } from '@mantine/hooks';
import { useId, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../icons.tsx';
import classes from './table.module.css';

interface SearchInputProps {
  what: string;
  /** Titles of the fields that the search looks in. */
  searched: readonly string[];
  value: string;
  onChange: (text: string | undefined) => void;
}

export function SearchInput({ what, searched, value, onChange }: SearchInputProps) {
  const { t } = useTranslation();
  const [text, setText] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  const hint = useId();
  const changeLater = useDebouncedCallback((next: string) => onChange(next.trim() || undefined), 200);
  useHotkeys([['/', () => input.current?.focus()]]);
  return (
    <div className={classes.search}>
      <TextInput
        ref={input}
        data-table-search
        type="search"
        aria-describedby={hint}
        aria-label={t('table.search', { what })}
        placeholder={t('table.search', { what })}
        leftSection={<Icon name="search" size={16} />}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          changeLater(currentTarget.value);
        }}
      />
      {/* It would cover the results. */}
      <div id={hint} role="tooltip" className={classes.searched} hidden={text !== ''}>
        {t('table.searchedIn', { fields: searched.join(', ') })}
      </div>
    </div>
  );
}
