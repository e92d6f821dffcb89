// Recovery codes, shown once.
import { Button, CopyButton, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../dialogs/dialog.tsx';
import { Icon } from '../icons.tsx';
import { saveBlob } from '../import/download.ts';
import classes from './passkeys.module.css';

export function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const { t } = useTranslation();
  const text = `${codes.join('\n')}\n`;
  return (
    <Stack>
      <Text size="sm">{t('passkeys.codesShown')}</Text>
      <ul className={classes.codes} aria-label={t('passkeys.codes')}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <Group gap="xs">
        <CopyButton value={text} timeout={3000}>
          {({ copied, copy }) => (
            <Button
              size="xs"
              variant="default"
              leftSection={<Icon name={copied ? 'check' : 'copy'} size={14} />}
              onClick={copy}
            >
              {t(copied ? 'actions.copied' : 'actions.copy')}
            </Button>
          )}
        </CopyButton>
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="download" size={14} />}
          onClick={() => saveBlob(new Blob([text]), t('passkeys.codesFile'))}
        >
          {t('passkeys.download')}
        </Button>
      </Group>
    </Stack>
  );
}

export function RecoveryCodesDialog({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog onClose={onClose} closeOnClickOutside={false} title={t('passkeys.codesTitle')}>
      <Stack>
        <RecoveryCodes codes={codes} />
        <Group justify="flex-end">
          <Button onClick={onClose}>{t('passkeys.codesKept')}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
