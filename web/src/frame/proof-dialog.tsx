// Asks for the password or a passkey when the service wants a recent proof. The page behind keeps everything typed.
import { Button, Divider, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, type KeyboardEvent, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError, whenProofIsNeeded } from '../api/client.ts';
import { canUsePasskeys, passkeysQuery, signChallenge } from '../api/passkeys.ts';
import { Icon } from '../icons.tsx';
import { FailureNote } from './failure.tsx';

let open: { promise: Promise<boolean>; resolve: (isProved: boolean) => void } | undefined;
const listeners = new Set<() => void>();

function set(next: typeof open): void {
  open = next;
  for (const listener of listeners) listener();
}

/** Calls that need a proof at the same time share one dialog. False if the person cancels. */
whenProofIsNeeded(() => {
  if (!open) set(Promise.withResolvers<boolean>());
  return open!.promise;
});

function close(isProved: boolean): void {
  open?.resolve(isProved);
  set(undefined);
}

export function ProofDialog() {
  const isOpen = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => open !== undefined,
  );
  return isOpen ? <Dialog /> : null;
}

/** The library closes every open dialog on Escape, also the one behind this; it leaves elements with this mark alone. */
const keepsEscape = { 'data-mantine-stop-propagation': 'true' };

function Dialog() {
  const { t } = useTranslation();
  const { data } = useQuery({ ...passkeysQuery, staleTime: 0 });
  const hasPasskey = canUsePasskeys() && (data?.data.length ?? 0) > 0;
  const password = useMutation({
    mutationFn: (typed: string) => call('POST', '/proof', { body: { password: typed } }),
    onSuccess: () => close(true),
  });
  const passkey = useMutation({
    mutationFn: async () => {
      const options = await call<PublicKeyCredentialRequestOptionsJSON>('POST', '/proof/options');
      return call('POST', '/proof', { body: { credential: await signChallenge(options) } });
    },
    onSuccess: () => close(true),
  });
  const failure = password.error && toApiError(password.error);
  const fieldError = failure?.errors.find(({ field }) => field === 'password')?.message;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    // A dialog inside another form would send that one, too.
    event.stopPropagation();
    passkey.reset();
    password.mutate(String(new FormData(event.currentTarget).get('password')));
  }

  function cancelOnEscape(event: KeyboardEvent) {
    if (event.key === 'Escape') close(false);
  }

  return (
    <Modal
      opened
      zIndex={400}
      onClose={() => close(false)}
      onKeyDown={cancelOnEscape}
      title={t('proof.title')}
      closeButtonProps={{ 'aria-label': t('actions.close'), ...keepsEscape }}
    >
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{t('proof.text')}</Text>
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
          <PasswordInput
            data-autofocus
            name="password"
            label={t('start.password')}
            autoComplete="current-password"
            error={fieldError}
            aria-invalid={fieldError !== undefined}
            {...keepsEscape}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={() => close(false)} {...keepsEscape}>
              {t('actions.cancel')}
            </Button>
            <Button type="submit" loading={password.isPending} {...keepsEscape}>
              {t('proof.confirm')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
