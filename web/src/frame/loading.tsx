import { Center, Loader, Skeleton, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';

export function PageLoading() {
  const { t } = useTranslation();
  return (
    <Center mih={240} role="status" aria-label={t('app.loading')}>
      <Loader size="sm" />
    </Center>
  );
}

export function Lines({ count = 3, height = 18 }: { count?: number; height?: number }) {
  const { t } = useTranslation();
  return (
    <Stack gap="sm" role="status" aria-label={t('app.loading')}>
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are identical.
        <Skeleton key={index} height={height} width={`${90 - ((index * 17) % 40)}%`} />
      ))}
    </Stack>
  );
}
