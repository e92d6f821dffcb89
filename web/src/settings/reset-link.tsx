import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { CopyField } from '../inputs/copy-field.tsx';

interface ResetLinkDialogProps {
  person: { id: string; name: string };
  onClose: () => void;
}

/** Makes a link by which a colleague sets a new password. */
export function ResetLinkDialog({ person: { id, name }, onClose }: ResetLinkDialogProps) {
  const { t } = useTranslation();
  const creation = useMutation({
    mutationFn: () => call<{ link: string }>('POST', `/people/${id}/reset-link`),
  });
  const link = creation.data?.link;
  return (
    <Dialog onClose={onClose} title={t('access.resetLinkTitle', { name })}>
      <Stack>
        <Text size="sm">{t(link ? 'access.resetLinkMade' : 'access.resetLinkText', { name })}</Text>
        {link && <CopyField value={link} />}
        {creation.error && <FailureNote error={creation.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t(link ? 'actions.close' : 'actions.cancel')}
          </Button>
          {!link && (
            <Button loading={creation.isPending} onClick={() => creation.mutate()}>
              {t('access.resetLinkMake')}
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  );
}
