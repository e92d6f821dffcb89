// The next page of a list, where there is one.
import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface MoreButtonProps {
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}

export function MoreButton({ list }: MoreButtonProps) {
  const { t } = useTranslation();
  if (!list.hasNextPage) return null;
  return (
    <>
      <Button
        mt="md"
        variant="default"
        loading={list.isFetchingNextPage}
        onClick={() => list.fetchNextPage()}
      >
        {t('actions.more')}
      </Button>
      <p className="paper-only">{t('print.more')}</p>
    </>
  );
}
