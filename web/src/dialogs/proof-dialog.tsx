// Asks for the password or a passkey when the service wants a recent proof. The page behind keeps everything typed.
import { Button, Divider } from '@mantine/core';
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import { canUsePasskeys, passkeysQuery, signChallenge } from '../api/passkeys.ts';
import { FailureNote } from '../frame/failure.tsx';
import { Icon } from '../icons.tsx';
import { type AskingProps, keepsEscape, PasswordDialog, PasswordForm } from './password-dialog.tsx';

export function ProofDialog({ onClose }: AskingProps) {
  const { t } = useTranslation();
  const { data } = useQuery({ ...passkeysQuery, staleTime: 0 });
  const hasPasskey = canUsePasskeys() && (data?.data.length ?? 0) > 0;
  const password = useMutation({
    mutationFn: (typed: string) => call('POST', '/proof', { body: { password: typed } }),
    onSuccess: () => onClose(true),
  });
  const passkey = useMutation({
    mutationFn: async () => {
      const options = await call<PublicKeyCredentialRequestOptionsJSON>('POST', '/proof/options');
      return call('POST', '/proof', { body: { credential: await signChallenge(options) } });
    },
    onSuccess: () => onClose(true),
  });
  const failure = password.error && toApiError(password.error);
  const fieldError = failure?.errors.find(({ field }) => field === 'password')?.message;

  return (
    <PasswordDialog title={t('proof.title')} text={t('proof.text')} onClose={onClose}>
      {failure && !fieldError && <FailureNote error={failure} />}
      {passkey.error && <FailureNote error={passkey.error} />}
      {hasPasskey && (
        <>
          <Button
            variant="default"
            leftSection={<Icon name="passkey" size={16} />}
            loading={passkey.isPending}
            onClick={() => {
              password.reset();
              passkey.mutate();
            }}
            {...keepsEscape}
          >
            {t('passkeys.use')}
          </Button>
          <Divider label={t('passkeys.or')} />
        </>
      )}
      <PasswordForm
        label={t('start.password')}
        error={fieldError}
        cancel={t('actions.cancel')}
        action={t('proof.confirm')}
        isPending={password.isPending}
        onSubmit={(typed) => {
          passkey.reset();
          password.mutate(typed);
        }}
        onClose={onClose}
      />
    </PasswordDialog>
  );
}
