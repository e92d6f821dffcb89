// Signing in with a passkey, and the second step after a password.
import { Alert, Anchor, Button, Divider, Stack, Text, TextInput } from '@mantine/core';
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import { canUsePasskeys, signChallenge } from '../api/passkeys.ts';
import type { Me } from '../api/session.ts';
import { tell } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';

export function PasskeyButton({ onSignedIn }: { onSignedIn: (me: Me) => Promise<void> }) {
  const { t } = useTranslation();
  const signIn = useMutation({
    mutationFn: async () => {
      const options = await call<PublicKeyCredentialRequestOptionsJSON>('POST', '/session/passkey/options');
      const credential = await signChallenge(options);
      return call<Me>('POST', '/session/passkey', { body: { credential } });
    },
    onSuccess: onSignedIn,
  });
  if (!canUsePasskeys()) return null;
  return (
    <Stack>
      <Divider label={t('passkeys.or')} />
      {signIn.error && <SignInError error={signIn.error} />}
      <Button
        size="md"
        variant="default"
        leftSection={<Icon name="passkey" size={18} />}
        loading={signIn.isPending}
        onClick={() => signIn.mutate()}
      >
        {t('passkeys.signIn')}
      </Button>
    </Stack>
  );
}

/** The service's answer to a right password of a person with passkeys. */
export interface SecondFactorRequest {
  needs: 'SECOND_FACTOR';
  token: string;
  /** null where passkeys do not work. */
  options: PublicKeyCredentialRequestOptionsJSON | null;
  hasRecoveryCodes: boolean;
}

interface SecondFactorProps {
  request: SecondFactorRequest;
  onSignedIn: (me: Me) => Promise<void>;
  onRestart: () => void;
}

export function SecondFactor({ request, onSignedIn, onRestart }: SecondFactorProps) {
  const { t } = useTranslation();
  const { token, hasRecoveryCodes } = request;
  const options = canUsePasskeys() ? request.options : null;
  const [wantsCode, setWantsCode] = useState(options === null);
  const finish = useMutation({
    mutationFn: async (recoveryCode?: string) => {
      const proof =
        recoveryCode === undefined ? { credential: await signChallenge(options!) } : { recoveryCode };
      return call<Me & { recoveryCodesLeft?: number }>('POST', '/session/second-factor', {
        body: { token, ...proof },
      });
    },
    onSuccess: async ({ recoveryCodesLeft, ...me }) => {
      if (recoveryCodesLeft !== undefined) tell(t('passkeys.codeUsed', { count: recoveryCodesLeft }));
      await onSignedIn(me);
    },
  });

  function submitCode(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    finish.mutate(String(new FormData(event.currentTarget).get('recoveryCode')));
  }

  return (
    <Stack>
      {options === null && (
        <Alert variant="light" color="gray" icon={<Icon name="info" />}>
          {t('passkeys.notHere')}
        </Alert>
      )}
      {finish.error && <SignInError error={finish.error} />}
      {wantsCode && hasRecoveryCodes ? (
        <form onSubmit={submitCode}>
          <Stack>
            <TextInput
              name="recoveryCode"
              label={t('passkeys.code')}
              autoComplete="one-time-code"
              size="md"
              required
              withAsterisk={false}
              data-autofocus
            />
            <Button type="submit" size="md" loading={finish.isPending}>
              {t('start.signIn')}
            </Button>
          </Stack>
        </form>
      ) : (
        options && (
          <Button
            size="md"
            leftSection={<Icon name="passkey" size={18} />}
            loading={finish.isPending}
            onClick={() => finish.mutate(undefined)}
          >
            {t('passkeys.use')}
          </Button>
        )
      )}
      {options && hasRecoveryCodes && (
        <Anchor
          component="button"
          type="button"
          size="sm"
          underline="always"
          style={{ alignSelf: 'flex-start' }}
          onClick={() => {
            finish.reset();
            setWantsCode(!wantsCode);
          }}
        >
          {t(wantsCode ? 'passkeys.use' : 'passkeys.useCode')}
        </Anchor>
      )}
      <Text size="sm" c="dimmed">
        {t('passkeys.lost')}
      </Text>
      <Anchor
        component="button"
        type="button"
        size="sm"
        underline="always"
        style={{ alignSelf: 'flex-start' }}
        onClick={onRestart}
      >
        {t('passkeys.restart')}
      </Anchor>
    </Stack>
  );
}

function SignInError({ error }: { error: unknown }) {
  const { t } = useTranslation();
  const { status, message, retryAfterSeconds } = toApiError(error);
  return (
    <Alert color="red" variant="light" icon={<Icon name="warning" />} role="alert">
      {status === 429 && retryAfterSeconds ? t('start.wait', { count: retryAfterSeconds }) : message}
    </Alert>
  );
}
