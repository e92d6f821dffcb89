import { Alert, Button, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Definition } from '../api/definitions.ts';
import { FailureNote } from '../frame/failure.tsx';
import { AnchorLink } from '../frame/links.tsx';
import { Icon } from '../icons.tsx';
import { obstacleOf, useRestore } from './use-restore.ts';

interface RestoreButtonProps {
  definition: Definition;
  id: string;
  /** The restored object, for those who do not see the row. */
  name: string;
  isPrimary?: boolean;
}

export function RestoreButton({ definition, id, name, isPrimary = false }: RestoreButtonProps) {
  const { t } = useTranslation();
  const restoring = useRestore(definition, id);
  const obstacle = obstacleOf(restoring.error);
  return (
    <Stack gap="xs" align="flex-end">
      <Button
        size={isPrimary ? undefined : 'compact-sm'}
        variant={isPrimary ? 'filled' : 'default'}
        leftSection={<Icon name="history" size={16} />}
        loading={restoring.isPending}
        aria-label={`${t('bin.restore')}: ${name}`}
        onClick={() => restoring.mutate()}
      >
        {t('bin.restore')}
      </Button>
      {obstacle && (
        <Alert variant="light" color="yellow" icon={<Icon name="info" />} role="alert" maw={420}>
          {obstacle.text} <AnchorLink to={obstacle.to}>{t('bin.show')}</AnchorLink>
        </Alert>
      )}
      {restoring.isError && !obstacle && <FailureNote error={restoring.error} />}
    </Stack>
  );
}
