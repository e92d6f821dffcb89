// Asks for the password or a passkey when the session ends over unsaved work. The page behind keeps everything typed.
import { Alert } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import { type Me, sessionQuery } from '../api/session.ts';
import { Icon } from '../icons.tsx';
import { PasskeyButton, SecondFactor, type SecondFactorRequest } from '../start/passkey-sign-in.tsx';
import { type AskingProps, PasswordDialog, PasswordForm } from './password-dialog.tsx';

export function SessionDialog({ onClose }: AskingProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const before = client.getQueryData(sessionQuery.queryKey);
  const email = before?.person.email;
  const [secondFactor, setSecondFactor] = useState<SecondFactorRequest>();
  const signIn = useMutation({
    mutationFn: (password: string) =>
      call<Me | SecondFactorRequest>('POST', '/session', {
        body: { email, password, businessId: before?.business.id },
      }),
    onSuccess: async (answer) => {
      if ('needs' in answer) setSecondFactor(answer);
      else await enter(answer);
    },
  });

  async function enter(me: Me) {
    // Somebody else's passkey: text typed here stays a draft of the person who typed it.
    if (me.person.id !== before?.person.id) window.location.assign('/');
    else {
      client.setQueryData(sessionQuery.queryKey, me);
      onClose(true);
    }
  }

  return (
    <PasswordDialog title={t('session.title')} text={t('session.text')} onClose={onClose}>
      {secondFactor ? (
        <SecondFactor
          request={secondFactor}
          onSignedIn={enter}
          onRestart={() => setSecondFactor(undefined)}
        />
      ) : (
        <>
          {signIn.error && (
            <Alert color="red" variant="light" icon={<Icon name="warning" />} role="alert">
              {toApiError(signIn.error).message}
            </Alert>
          )}
          <PasswordForm
            label={t('session.password', { email })}
            email={email}
            cancel={t('session.later')}
            action={t('start.signIn')}
            isPending={signIn.isPending}
            onSubmit={(password) => signIn.mutate(password)}
            onClose={onClose}
          />
          <PasskeyButton onSignedIn={enter} />
        </>
      )}
    </PasswordDialog>
  );
}
