import { Code, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** List items of an unknown shape, shown as they were sent. */
export function UnknownItems({ items }: { items: readonly unknown[] }) {
  const { t } = useTranslation();
  if (items.length === 0) return null;
  return (
    <Stack gap={6} mt="sm">
      <Text size="sm" c="dimmed">
        {t('record.unknownShape')}
      </Text>
      <Code block>{items.map((item) => JSON.stringify(item, null, 2)).join('\n')}</Code>
    </Stack>
  );
}
