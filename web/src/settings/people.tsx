import { Alert, Avatar, Badge, Button, Group, Radio, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import type { Role } from '../api/session.ts';
import { Card } from '../frame/card.tsx';
import { Confirmation } from '../frame/confirmation.tsx';
import { CopyField } from '../frame/copy-field.tsx';
import { Dialog } from '../frame/dialog.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { tell, tellFailure } from '../frame/notices.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon } from '../icons.tsx';
import { formatAgo, formatTime } from '../texts/format.ts';
import { PasskeyRequirementCard } from './passkey-requirement.tsx';
import { PersonActions } from './person-actions.tsx';
import { ResetLinkDialog } from './reset-link.tsx';
import classes from './settings.module.css';

interface Person {
  id: string;
  name: string;
  email: string;
  role: Role;
  lastSignInAt: string | null;
  isSelf: boolean;
}

interface Invitation {
  id: string;
  email: string;
  role: Role;
  expiresAt: string;
}

const roles: Role[] = ['VERWALTUNG', 'PFLEGE'];

export function PeoplePage() {
  const { t } = useTranslation();
  const [isInviting, setIsInviting] = useState(false);
  return (
    <>
      <PageHead
        title={t('people.title')}
        text={t('people.text')}
        actions={
          <Button leftSection={<Icon name="invite" size={16} />} onClick={() => setIsInviting(true)}>
            {t('people.invite')}
          </Button>
        }
      />
      <Stack gap="lg">
        <PeopleCard />
        <InvitationsCard />
        <PasskeyRequirementCard />
      </Stack>
      {isInviting && <InvitationDialog onClose={() => setIsInviting(false)} />}
    </>
  );
}

function PeopleCard() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [leaving, setLeaving] = useState<Person>();
  const { data, error, refetch } = useQuery({
    queryKey: ['people'],
    queryFn: () => call<{ data: Person[] }>('GET', '/people'),
  });
  const change = useMutation({
    mutationFn: ({ person, role }: { person: Person; role: Role }) =>
      call('PATCH', `/people/${person.id}`, { body: { role } }),
    onSuccess: async (_answer, { person, role }) => {
      tell(t('people.roleChanged', { name: person.name, role: t(`roles.${role}`) }));
      await client.invalidateQueries({ queryKey: [person.isSelf ? 'session' : 'people'] });
      await client.invalidateQueries({ queryKey: ['people'] });
    },
    onError: tellFailure,
  });
  return (
    <Card title={t('people.accounts')} icon="employee">
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines />}
      <ul className={classes.rows}>
        {data?.data.map((person) => (
          <li key={person.id}>
            <Avatar name={person.name} color="leaf" radius="xl" alt="" />
            <div className={classes.fill}>
              <Group gap="xs">
                <Text size="sm" fw={550}>
                  {person.name}
                </Text>
                {person.isSelf && <Badge>{t('people.you')}</Badge>}
              </Group>
              <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                {person.email} ·{' '}
                {person.lastSignInAt
                  ? t('people.lastSignIn', { ago: formatAgo(person.lastSignInAt) })
                  : t('people.never')}
              </Text>
            </div>
            <Group gap="xs" wrap="nowrap">
              <Select
                w={140}
                size="xs"
                aria-label={t('people.roleOf', { name: person.name })}
                allowDeselect={false}
                data={roles.map((role) => ({ value: role, label: t(`roles.${role}`) }))}
                value={person.role}
                onChange={(role) => role && change.mutate({ person, role: role as Role })}
              />
              {!person.isSelf && <PersonActions person={person} onRemove={() => setLeaving(person)} />}
            </Group>
          </li>
        ))}
      </ul>
      {leaving && (
        <Confirmation
          title={t('people.removeTitle', { name: leaving.name })}
          text={t('people.removeText', { name: leaving.name })}
          action={t('people.remove')}
          onClose={() => setLeaving(undefined)}
          onConfirm={async () => {
            await call('DELETE', `/people/${leaving.id}`);
            tell(t('people.removed', { name: leaving.name }));
            await client.invalidateQueries({ queryKey: ['people'] });
          }}
        />
      )}
    </Card>
  );
}

function InvitationsCard() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: ['invitations'],
    queryFn: () => call<{ data: Invitation[] }>('GET', '/invitations'),
  });
  const withdrawal = useMutation({
    mutationFn: (id: string) => call('DELETE', `/invitations/${id}`),
    onSuccess: async () => {
      tell(t('people.withdrawn'));
      await client.invalidateQueries({ queryKey: ['invitations'] });
    },
    onError: tellFailure,
  });
  if (!data || data.data.length === 0) return null;
  return (
    <Card title={t('people.open')} icon="mail">
      <ul className={classes.rows}>
        {data.data.map(({ id, email, role, expiresAt }) => (
          <li key={id}>
            <div className={classes.fill}>
              <Text size="sm" fw={550}>
                {email}
              </Text>
              <Text size="xs" c="dimmed">
                {t(`roles.${role}`)} · {t('people.expires', { date: formatTime(expiresAt) })}
              </Text>
            </div>
            <Button
              size="xs"
              variant="default"
              aria-label={`${t('people.withdraw')}: ${email}`}
              loading={withdrawal.isPending && withdrawal.variables === id}
              onClick={() => withdrawal.mutate(id)}
            >
              {t('people.withdraw')}
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface Known {
  id: string;
  name: string;
}

function InvitationDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [role, setRole] = useState<Role>('PFLEGE');
  const [email, setEmail] = useState('');
  const invitation = useMutation({
    mutationFn: () =>
      call<{ link: string; isMailed: boolean }>('POST', '/invitations', {
        body: { email: email.trim(), role },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['invitations'] }),
  });
  const failure = invitation.error && toApiError(invitation.error);
  const link = invitation.data?.link;
  const known = failure?.code === 'email_taken' ? (failure.details.person as Known | undefined) : undefined;
  const [forgetful, setForgetful] = useState<Known>();
  if (forgetful) return <ResetLinkDialog person={forgetful} onClose={onClose} />;
  return (
    <Dialog onClose={onClose} title={t(link ? 'people.linkTitle' : 'people.inviteTitle')}>
      {link ? (
        <Stack>
          <Text size="sm">
            {t(invitation.data?.isMailed ? 'access.mailed' : 'people.linkText', { email: email.trim() })}
          </Text>
          <CopyField value={link} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('actions.close')}
            </Button>
          </Group>
        </Stack>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            invitation.mutate();
          }}
          noValidate
        >
          <Stack>
            <Text size="sm" c="dimmed">
              {t('people.inviteText')}
            </Text>
            <TextInput
              data-autofocus
              type="email"
              label={t('people.email')}
              value={email}
              onChange={({ currentTarget }) => setEmail(currentTarget.value)}
              error={failure && (failure.errors[0]?.message ?? failure.message)}
            />
            {known && (
              <Alert variant="light" icon={<Icon name="info" />}>
                <Stack gap="xs" align="flex-start">
                  {t('access.alreadyHere', { name: known.name })}
                  <Button size="xs" variant="default" onClick={() => setForgetful(known)}>
                    {t('access.resetLink')}
                  </Button>
                </Stack>
              </Alert>
            )}
            <Radio.Group label={t('people.role')} value={role} onChange={(value) => setRole(value as Role)}>
              <Stack gap="xs" mt={6}>
                {roles.toReversed().map((value) => (
                  <Radio
                    key={value}
                    value={value}
                    label={t(`roles.${value}`)}
                    description={t(`roleHints.${value}`)}
                  />
                ))}
              </Stack>
            </Radio.Group>
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                {t('actions.cancel')}
              </Button>
              <Button type="submit" loading={invitation.isPending}>
                {t('people.makeLink')}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}
