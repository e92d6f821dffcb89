import { Button, Group, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import { type Me, sessionQuery, useMe } from '../api/session.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { tell } from '../frame/notices.tsx';

/** One's own name and address. A new address needs the password. */
export function OwnDetailsCard() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { person } = useMe();
  const [email, setEmail] = useState(person.email);
  const isNewEmail = email.trim() !== person.email;
  const change = useMutation({
    mutationFn: (body: object) => call<Me>('PATCH', '/profile', { body }),
    onSuccess: (me) => {
      client.setQueryData(sessionQuery.queryKey, me);
      setEmail(me.person.email);
      tell(t('access.saved'));
    },
  });
  const failure = change.error && toApiError(change.error);
  const isTaken = failure?.code === 'email_taken';
  const errorOf = (name: string) => failure?.errors.find(({ field }) => field === name)?.message;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    change.mutate({
      name: form.get('name'),
      ...(isNewEmail && { email: email.trim(), currentPassword: form.get('currentPassword') }),
    });
  }

  return (
    <Card title={t('access.details')} icon="pencil">
      <form onSubmit={submit} noValidate>
        <Stack maw={380}>
          {failure && failure.errors.length === 0 && !isTaken && <FailureNote error={failure} />}
          <TextInput
            name="name"
            label={t('access.name')}
            autoComplete="name"
            defaultValue={person.name}
            error={errorOf('name')}
          />
          <TextInput
            type="email"
            label={t('access.newEmail')}
            autoComplete="email"
            value={email}
            onChange={({ currentTarget }) => setEmail(currentTarget.value)}
            error={isTaken ? failure.message : errorOf('email')}
          />
          {isNewEmail && (
            <PasswordInput
              name="currentPassword"
              label={t('access.emailPassword')}
              description={t('access.emailPasswordHint')}
              autoComplete="current-password"
              error={errorOf('currentPassword')}
            />
          )}
          <Group>
            <Button type="submit" variant="default" loading={change.isPending}>
              {t('actions.save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}
