// Lists the records that could not be changed or deleted, with the reasons.
import { Button, Group, ScrollArea, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Definition, labelOf } from '../api/definitions.ts';
import { AnchorLink } from '../frame/links.tsx';
import { formatNumber } from '../texts/format.ts';
import type { BulkResult } from './bulk.ts';

const mostShown = 100;

interface BulkFailuresProps {
  definition: Definition;
  result: BulkResult;
  onClose: () => void;
}

export function BulkFailures({ definition, result, onClose }: BulkFailuresProps) {
  const { t } = useTranslation();
  const { failed } = result;
  return (
    <Stack>
      <Text size="sm">
        {t('bulk.failed', { count: failed.length, formatted: formatNumber(failed.length) })}
      </Text>
      <ScrollArea.Autosize mah="40vh">
        <Stack gap="xs">
          {failed.slice(0, mostShown).map(({ entity, message }) => (
            <div key={entity.id}>
              <AnchorLink to={`/data/${definition.collection}/${entity.id}`} size="sm">
                {labelOf(definition, entity)}
              </AnchorLink>
              <Text size="xs" c="dimmed">
                {message}
              </Text>
            </div>
          ))}
        </Stack>
      </ScrollArea.Autosize>
      <Group justify="flex-end">
        <Button onClick={onClose}>{t('actions.close')}</Button>
      </Group>
    </Stack>
  );
}
