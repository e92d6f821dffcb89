import { Button, PasswordInput, Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import { stateQuery } from '../api/session.ts';
import { FailureNote } from '../frame/failure.tsx';
import { ButtonLink, toSearch } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { SignInHelp } from './sign-in-help.tsx';
import { StartFrame } from './start-frame.tsx';
import { takeToken } from './token.ts';

/** Sets a new password with a one-time link. */
export function ResetPage() {
  const { t } = useTranslation();
  const [token] = useState(takeToken);
  const path = `/reset/${encodeURIComponent(token)}`;
  const link = useQuery({
    queryKey: ['reset', token],
    queryFn: () => call<{ email: string; businessName: string }>('GET', path),
    retry: false,
  });
  const { data: state } = useQuery(stateQuery);
  if (link.isPending)
    return (
      <StartFrame title={t('access.resetTitle')}>
        <Lines />
      </StartFrame>
    );
  if (link.error) {
    const isUsed = toApiError(link.error).status === 404;
    return (
      <StartFrame
        title={isUsed ? t('access.resetUsedTitle') : t('failure.title')}
        text={isUsed && t('access.resetUsed')}
      >
        {!isUsed && <FailureNote error={link.error} onRetry={() => link.refetch()} />}
        {isUsed && state && <SignInHelp {...state} />}
        <ButtonLink to="/sign-in" variant="light">
          {t('access.backToSignIn')}
        </ButtonLink>
      </StartFrame>
    );
  }
  const { email, businessName } = link.data;
  return (
    <StartFrame
      title={t('access.resetTitle')}
      text={t('access.resetText', { email, business: businessName })}
    >
      <ResetForm path={path} email={email} />
    </StartFrame>
  );
}

function ResetForm({ path, email }: { path: string; email: string }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const navigate = useNavigate();
  const reset = useMutation({
    mutationFn: (password: string) => call('POST', path, { body: { password } }),
    onSuccess: async () => {
      client.clear();
      await navigate({ to: '/sign-in', search: toSearch({ reset: 'true' }), replace: true });
    },
  });
  const failure = reset.error && toApiError(reset.error);
  const fieldError = failure?.errors[0]?.message;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    reset.mutate(String(new FormData(event.currentTarget).get('password')));
  }

  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {failure && !fieldError && <FailureNote error={failure} />}
        <input type="hidden" name="username" autoComplete="username" value={email} />
        <PasswordInput
          name="password"
          label={t('setup.password')}
          description={t('setup.passwordHint')}
          autoComplete="new-password"
          size="md"
          error={fieldError}
          aria-invalid={fieldError !== undefined}
        />
        <Button type="submit" size="md" mt="xs" loading={reset.isPending}>
          {t('access.resetSave')}
        </Button>
      </Stack>
    </form>
  );
}
