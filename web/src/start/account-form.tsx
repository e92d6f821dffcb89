// The form that makes an account, for the first person and for invited ones.
import { Alert, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import { type Me, sessionQuery } from '../api/session.ts';
import { Icon } from '../icons.tsx';

interface AccountFormProps {
  /** Path of the request, below /app. */
  path: string;
  submitTitle: string;
  fields: { name: string; label: string; type?: string; autoComplete: string; defaultValue?: string }[];
}

export function AccountForm({ path, submitTitle, fields }: AccountFormProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const navigate = useNavigate();
  const creation = useMutation({
    mutationFn: (body: object) => call<Me>('POST', path, { body }),
    onSuccess: async (me) => {
      client.clear();
      client.setQueryData(sessionQuery.queryKey, me);
      await navigate({ to: '/', replace: true });
    },
  });
  const failure = creation.error && toApiError(creation.error);
  const errorOf = (name: string) => failure?.errors.find(({ field }) => field === name)?.message;
  const hasErrorAtField = [...fields.map(({ name }) => name), 'password'].some(errorOf);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    creation.mutate(Object.fromEntries(new FormData(event.currentTarget)));
  }

  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {failure && !hasErrorAtField && (
          <Alert color="red" variant="light" icon={<Icon name="warning" />} role="alert">
            {failure.message}
          </Alert>
        )}
        {fields.map((field) => (
          <TextInput
            key={field.name}
            {...field}
            size="md"
            required
            withAsterisk={false}
            error={errorOf(field.name)}
          />
        ))}
        <PasswordInput
          name="password"
          label={t('setup.password')}
          description={t('setup.passwordHint')}
          autoComplete="new-password"
          size="md"
          required
          withAsterisk={false}
          error={errorOf('password')}
          aria-invalid={errorOf('password') !== undefined}
        />
        <Button type="submit" size="md" mt="xs" loading={creation.isPending}>
          {submitTitle}
        </Button>
      </Stack>
    </form>
  );
}
