import { Group, Text } from '@mantine/core';

export function Logo({ size = 28 }: { size?: number }) {
  return (
    <Group gap={10} wrap="nowrap">
      <img src="/icon.svg" alt="" width={size} height={size} />
      <Text fw={700} fz={size * 0.68} lh={1} lts="-0.02em" c="var(--stamm-ink)">
        Stamm
      </Text>
    </Group>
  );
}
