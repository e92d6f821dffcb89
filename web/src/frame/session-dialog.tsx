// Asks for the password or a passkey when the session ends over unsaved work. The page behind keeps everything typed.
import { Alert, Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type KeyboardEvent, useState, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError, whenSignInIsNeeded } from '../api/client.ts';
import { type Me, sessionQuery } from '../api/session.ts';
import { Icon } from '../icons.tsx';
import { PasskeyButton, SecondFactor, type SecondFactorRequest } from '../start/passkey-sign-in.tsx';
import { hasUnsavedWork } from './unsaved-work.ts';

let open: { promise: Promise<boolean>; resolve: (isSignedIn: boolean) => void } | undefined;
const listeners = new Set<() => void>();

function set(next: typeof open): void {
  open = next;
  for (const listener of listeners) listener();
}

/** Calls that find the session ended at the same time share one dialog. False if the person cancels. */
whenSignInIsNeeded(() => {
  if (!hasUnsavedWork()) return undefined;
  if (!open) set(Promise.withResolvers<boolean>());
  return open!.promise;
});

function close(isSignedIn: boolean): void {
  open?.resolve(isSignedIn);
  set(undefined);
}

export function SessionDialog() {
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
  const client = useQueryClient();
  const before = client.getQueryData(sessionQuery.queryKey);
  const [secondFactor, setSecondFactor] = useState<SecondFactorRequest>();
  const signIn = useMutation({
    mutationFn: (password: string) =>
      call<Me | SecondFactorRequest>('POST', '/session', {
        body: { email: before?.person.email, password, businessId: before?.business.id },
      }),
    onSuccess: async (answer) => {
      if ('needs' in answer) setSecondFactor(answer);
      else await enter(answer);
    },
  });
  const failure = signIn.error && toApiError(signIn.error);

  async function enter(me: Me) {
    // Somebody else's passkey: what is typed here stays a draft of the person who typed it.
    if (me.person.id !== before?.person.id) window.location.assign('/');
    else {
      client.setQueryData(sessionQuery.queryKey, me);
      close(true);
    }
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    event.stopPropagation();
    signIn.mutate(String(new FormData(event.currentTarget).get('password')));
  }

  function cancelOnEscape(event: KeyboardEvent) {
    if (event.key === 'Escape') close(false);
  }

  return (
    <Modal
      opened
      zIndex={390}
      onClose={() => close(false)}
      onKeyDown={cancelOnEscape}
      closeOnClickOutside={false}
      title={t('session.title')}
      closeButtonProps={{ 'aria-label': t('actions.close'), ...keepsEscape }}
    >
      <Stack>
        <Text size="sm">{t('session.text')}</Text>
        {secondFactor ? (
          <SecondFactor
            request={secondFactor}
            onSignedIn={enter}
            onRestart={() => setSecondFactor(undefined)}
          />
        ) : (
          <>
            {failure && (
              <Alert color="red" variant="light" icon={<Icon name="warning" />} role="alert">
                {failure.message}
              </Alert>
            )}
            <form onSubmit={submit}>
              <Stack>
                {/* Password managers look for the name beside the password. */}
                <input type="email" autoComplete="username" value={before?.person.email} readOnly hidden />
                <PasswordInput
                  data-autofocus
                  name="password"
                  label={t('session.password', { email: before?.person.email })}
                  autoComplete="current-password"
                  {...keepsEscape}
                />
                <Group justify="flex-end">
                  <Button variant="default" onClick={() => close(false)} {...keepsEscape}>
                    {t('session.later')}
                  </Button>
                  <Button type="submit" loading={signIn.isPending} {...keepsEscape}>
                    {t('start.signIn')}
                  </Button>
                </Group>
              </Stack>
            </form>
            <PasskeyButton onSignedIn={enter} />
          </>
        )}
      </Stack>
    </Modal>
  );
}
