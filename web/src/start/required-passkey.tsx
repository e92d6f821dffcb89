// The only page for a person without the passkey that their business requires.
import { Alert, Anchor, Button, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import { addPasskey, canUsePasskeys } from '../api/passkeys.ts';
import { useMe } from '../api/session.ts';
import { tellFailure } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';
import { RecoveryCodes } from '../settings/recovery-codes.tsx';
import { StartFrame } from './start-frame.tsx';

export function RequiredPasskeyPage() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { business } = useMe();
  const addition = useMutation({
    mutationFn: async () => {
      await addPasskey();
      // The passkey is there: without codes now, Settings can make them later.
      return call<{ codes: string[] }>('POST', '/recovery-codes').catch(() => undefined);
    },
    onSuccess: (made) => (made ? undefined : leave('/')),
  });
  const signOut = useMutation({
    mutationFn: () => call('DELETE', '/session'),
    onSuccess: () => leave('/sign-in'),
    onError: tellFailure,
  });

  async function leave(to: string) {
    client.clear();
    await navigate({ href: to, replace: true });
  }

  if (addition.data)
    return (
      <StartFrame title={t('passkeys.codesTitle')}>
        <RecoveryCodes codes={addition.data.codes} />
        <Button size="md" onClick={() => leave('/')}>
          {t('passkeys.codesKept')}
        </Button>
      </StartFrame>
    );
  return (
    <StartFrame
      title={t('passkeys.requiredTitle')}
      text={t('passkeys.requiredText', { business: business.name })}
    >
      <Stack>
        {addition.error && (
          <Alert color="red" variant="light" icon={<Icon name="warning" />} role="alert">
            {toApiError(addition.error).message}
          </Alert>
        )}
        {canUsePasskeys() ? (
          <Button
            size="md"
            leftSection={<Icon name="passkey" size={18} />}
            loading={addition.isPending}
            onClick={() => addition.mutate()}
          >
            {t('passkeys.add')}
          </Button>
        ) : (
          <Alert variant="light" color="gray" icon={<Icon name="info" />}>
            {t('passkeys.unavailable')}
          </Alert>
        )}
        <Anchor
          component="button"
          type="button"
          size="sm"
          underline="always"
          style={{ alignSelf: 'flex-start' }}
          onClick={() => signOut.mutate()}
        >
          {t('navigation.signOut')}
        </Anchor>
      </Stack>
    </StartFrame>
  );
}
