// The keys that the office knows.
import { Group, Kbd, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../dialogs/dialog.tsx';

const groups = [
  ['everywhere', ['search', 'slash', 'help', 'undo']],
  ['table', ['edit', 'next', 'range', 'copy', 'fill', 'clear', 'preview', 'open', 'back']],
] as const;

export function Shortcuts({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog title={t('find.shortcuts')} onClose={onClose}>
      <Stack gap="md">
        {groups.map(([group, names]) => (
          <section key={group} aria-label={t(`find.groups.${group}`)}>
            <Text fw={550} size="sm" mb={6}>
              {t(`find.groups.${group}`)}
            </Text>
            <Stack gap={6}>
              {names.map((name) => (
                <Group key={name} justify="space-between" wrap="nowrap" gap="sm">
                  <Text size="sm">{t(`find.does.${name}`)}</Text>
                  <Kbd size="xs" style={{ whiteSpace: 'nowrap' }}>
                    {t(`find.keys.${name}`)}
                  </Kbd>
                </Group>
              ))}
            </Stack>
          </section>
        ))}
      </Stack>
    </Dialog>
  );
}
