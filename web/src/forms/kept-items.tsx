import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface KeptItemsProps {
  items: unknown[];
  onRemove: (index: number) => void;
}

/** Items of an unknown shape in an editor: never lost by accident, removed only on purpose. */
export function KeptItems({ items, onRemove }: KeptItemsProps) {
  const { t } = useTranslation();
  return items.map((item, index) => (
    <Stack key={JSON.stringify(item)} gap={6}>
      <Text size="sm" c="dimmed">
        {t('form.unknownKept')}
      </Text>
      <Group align="flex-start" wrap="nowrap">
        <Code block style={{ flex: 1 }}>
          {JSON.stringify(item, null, 2)}
        </Code>
        <Button size="compact-sm" variant="subtle" color="gray" onClick={() => onRemove(index)}>
          {t('actions.remove')}
        </Button>
      </Group>
    </Stack>
  ));
}
