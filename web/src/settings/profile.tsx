import { Badge, Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { deviceName } from '../../../core/device-name.ts';
import { call, toApiError } from '../api/client.ts';
import { sessionQuery, useIsAdministrator, useMe } from '../api/session.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { tell, tellFailure } from '../frame/notices.tsx';
import { PageHead } from '../frame/page-head.tsx';
import record from '../records/record.module.css';
import { formatAgo } from '../texts/format.ts';
import { OwnDetailsCard } from './own-details.tsx';
import { PasskeysCard } from './passkeys.tsx';
import classes from './settings.module.css';
import { SignOutEverywhere } from './sign-out-everywhere.tsx';

export function ProfilePage() {
  const { t } = useTranslation();
  const { person } = useMe();
  const isAdministrator = useIsAdministrator();
  const { isInTestBusiness } = useMe();
  return (
    <>
      <PageHead title={t('profile.title')} />
      <Stack gap="lg">
        <Card title={person.name} icon="person">
          <dl className={record.details}>
            <div>
              <dt>{t('profile.role')}</dt>
              <dd>
                {t(`roles.${person.role}`)}
                <Text size="xs" c="dimmed">
                  {t(`roleHints.${person.role}`)}
                </Text>
              </dd>
            </div>
          </dl>
        </Card>
        <OwnDetailsCard />
        <PasswordCard />
        <PasskeysCard />
        <SessionsCard />
        {isAdministrator && !isInTestBusiness && <BusinessCard />}
      </Stack>
    </>
  );
}

function PasswordCard() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const change = useMutation({
    mutationFn: (body: object) => call('POST', '/password', { body }),
    onSuccess: async () => {
      form.current?.reset();
      tell(t('profile.changed'));
      await client.invalidateQueries({ queryKey: ['sessions'] });
    },
  });
  const failure = change.error && toApiError(change.error);
  const errorOf = (name: string) => failure?.errors.find(({ field }) => field === name)?.message;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    change.mutate(Object.fromEntries(new FormData(event.currentTarget)));
  }

  return (
    <Card title={t('profile.password')} icon="key">
      <form ref={form} onSubmit={submit}>
        <Stack maw={380}>
          {failure && !errorOf('currentPassword') && !errorOf('newPassword') && (
            <FailureNote error={failure} />
          )}
          <PasswordInput
            name="currentPassword"
            label={t('profile.current')}
            autoComplete="current-password"
            error={errorOf('currentPassword')}
            aria-invalid={errorOf('currentPassword') !== undefined}
          />
          <PasswordInput
            name="newPassword"
            label={t('profile.next')}
            description={t('setup.passwordHint')}
            autoComplete="new-password"
            error={errorOf('newPassword')}
            aria-invalid={errorOf('newPassword') !== undefined}
          />
          <Group>
            <Button type="submit" variant="default" loading={change.isPending}>
              {t('profile.password')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}

interface SignedIn {
  id: string;
  createdAt: string;
  lastUsedAt: string;
  address: string;
  userAgent: string;
  isCurrent: boolean;
}

function SessionsCard() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['sessions'],
    queryFn: () => call<{ data: SignedIn[] }>('GET', '/sessions'),
  });
  const end = useMutation({
    mutationFn: (id: string) => call('DELETE', `/sessions/${id}`),
    onSuccess: async () => {
      tell(t('profile.ended'));
      await client.invalidateQueries({ queryKey: ['sessions'] });
    },
    onError: tellFailure,
  });
  return (
    <Card title={t('profile.sessions')} icon="screen">
      <Text size="sm" c="dimmed" mb="md" mt={-8}>
        {t('profile.sessionsText')}
      </Text>
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines />}
      <ul className={classes.rows}>
        {data?.data.map((session) => (
          <li key={session.id}>
            <div className={classes.fill}>
              <Group gap="xs">
                <Text size="sm" fw={550}>
                  {deviceName(session.userAgent) ?? t('profile.unknownDevice')}
                </Text>
                {session.isCurrent && <Badge>{t('profile.thisDevice')}</Badge>}
              </Group>
              <Text size="xs" c="dimmed">
                {session.address} · {t('profile.lastUsed', { ago: formatAgo(session.lastUsedAt) })}
              </Text>
            </div>
            {!session.isCurrent && (
              <Button
                size="xs"
                variant="default"
                loading={end.isPending && end.variables === session.id}
                onClick={() => end.mutate(session.id)}
              >
                {t('profile.end')}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <SignOutEverywhere />
    </Card>
  );
}

function BusinessCard() {
  const { t } = useTranslation();
  const me = useMe();
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (name: string) => call('PATCH', '/business', { body: { name } }),
    onSuccess: async (_answer, name) => {
      client.setQueryData(sessionQuery.queryKey, { ...me, business: { ...me.business, name } });
      tell(t('business.saved'));
    },
  });
  const failure = change.error && toApiError(change.error);
  return (
    <Card title={t('business.title')} icon="customer">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(String(new FormData(event.currentTarget).get('name')).trim());
        }}
      >
        <Group align="flex-start" gap="sm">
          <TextInput
            name="name"
            w="min(100%, 24rem)"
            label={t('business.name')}
            defaultValue={me.business.name}
            error={failure && (failure.errors[0]?.message ?? failure.message)}
          />
          <Button type="submit" variant="default" mt={25} loading={change.isPending}>
            {t('actions.save')}
          </Button>
        </Group>
      </form>
    </Card>
  );
}
