import { Alert, Button, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Icon } from '../icons.tsx';
import { formatTime } from '../texts/format.ts';

interface DraftOfferProps {
  at: number;
  onTake: () => void;
  onDrop: () => void;
}

export function DraftOffer({ at, onTake, onDrop }: DraftOfferProps) {
  const { t } = useTranslation();
  return (
    <Alert variant="light" icon={<Icon name="pencil" />} title={t('draft.title')} role="status">
      {t('draft.text', { when: formatTime(new Date(at).toISOString()) })}
      <Group gap="xs" mt="xs">
        <Button size="compact-sm" onClick={onTake}>
          {t('draft.take')}
        </Button>
        <Button size="compact-sm" variant="default" onClick={onDrop}>
          {t('draft.drop')}
        </Button>
      </Group>
    </Alert>
  );
}
