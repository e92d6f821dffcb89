// A key that was just made: shown once.
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../dialogs/dialog.tsx';
import { Icon } from '../icons.tsx';
import { CopyField } from '../inputs/copy-field.tsx';

/** Only its button closes it: a click beside it must not lose the key. */
export function NewKey({ value, onClose }: { value: string; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog
      onClose={onClose}
      title={t('api.newTitle')}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        <Text size="sm">{t('api.newText')}</Text>
        <CopyField value={value} />
        <Alert color="yellow" variant="light" icon={<Icon name="warning" />}>
          {t('api.warning')}
        </Alert>
        <Group justify="flex-end">
          <Button onClick={onClose}>{t('api.stored')}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
