import { Button, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import { FailureNote } from '../frame/failure.tsx';
import { AnchorLink } from '../frame/links.tsx';
import { StartFrame } from './start-frame.tsx';

/** Asks for a reset link by mail. The service answers alike for every address. */
export function ForgotPage() {
  const { t } = useTranslation();
  const request = useMutation({
    mutationFn: (email: string) => call('POST', '/password-reset', { body: { email } }),
  });
  const failure = request.error && toApiError(request.error);
  const fieldError = failure?.errors[0]?.message;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    request.mutate(String(new FormData(event.currentTarget).get('email')).trim());
  }

  const back = (
    <AnchorLink to="/sign-in" size="sm" underline="always">
      {t('access.backToSignIn')}
    </AnchorLink>
  );
  if (request.isSuccess)
    return (
      <StartFrame
        title={t('access.requestSentTitle')}
        text={t('access.requestSent', { email: request.variables })}
      >
        {back}
      </StartFrame>
    );
  return (
    <StartFrame title={t('access.requestTitle')} text={t('access.requestText')}>
      {failure && !fieldError && <FailureNote error={failure} />}
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            name="email"
            type="email"
            label={t('start.email')}
            autoComplete="username"
            required
            withAsterisk={false}
            size="md"
            error={fieldError}
          />
          <Button type="submit" size="md" mt="xs" loading={request.isPending}>
            {t('access.requestSend')}
          </Button>
        </Stack>
      </form>
      {back}
    </StartFrame>
  );
}
