// Prints a table: all rows that the filters find, up to a limit, with the shown columns.
import { ActionIcon } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { tellFailure } from '../frame/notices.tsx';
import { usePrintPage } from '../frame/printing.ts';
import { Icon } from '../icons.tsx';

/** About eighty sheets. A file serves better beyond. */
const maxRows = 2000;

interface LoadedPage {
  hasNextPage: boolean;
  error: unknown;
  data: { pages: { data: unknown[] }[] } | undefined;
}

interface PrintButtonProps {
  list: LoadedPage & { fetchNextPage: () => Promise<LoadedPage> };
}

export function PrintButton({ list }: PrintButtonProps) {
  const { t } = useTranslation();
  const printPage = usePrintPage();
  const [isLoading, setIsLoading] = useState(false);
  async function print() {
    if (isLoading) return;
    setIsLoading(true);
    try {
      let loaded: LoadedPage = list;
      while (!loaded.data || (loaded.hasNextPage && countRows(loaded) < maxRows)) {
        loaded = await list.fetchNextPage();
        if (loaded.error) throw loaded.error;
      }
      await printPage();
    } catch (error) {
      tellFailure(error);
    } finally {
      setIsLoading(false);
    }
  }
  useHotkeys([['mod+P', print]], []);
  return (
    <ActionIcon
      size={36}
      variant="default"
      aria-label={t('print.action')}
      title={t('print.action')}
      loading={isLoading}
      onClick={print}
    >
      <Icon name="printer" />
    </ActionIcon>
  );
}

function countRows({ data }: LoadedPage): number {
  return data?.pages.reduce((sum, page) => sum + page.data.length, 0) ?? 0;
}
