// Opens the search over everything. The frame holds the dialog.
import { Kbd, UnstyledButton } from '@mantine/core';
import { createContext, type ReactNode, use } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../icons.tsx';
import classes from './search.module.css';

interface Handlers {
  onClick: () => void;
  onPointerEnter: () => void;
  onFocus: () => void;
}

export const SearchButtonProps = createContext<Handlers | undefined>(undefined);

export function SearchButton({ children }: { children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <UnstyledButton className={classes.button} aria-keyshortcuts="Control+K" {...use(SearchButtonProps)}>
      <Icon name="search" size={16} />
      <span>{children}</span>
      <Kbd size="xs" aria-hidden="true">
        {t('search.key')}
      </Kbd>
    </UnstyledButton>
  );
}
