import { Avatar, Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { labelOf } from '../api/definitions.ts';
import { useNamed } from '../api/named.ts';
import type { Role } from '../api/session.ts';
import { Confirmation } from '../dialogs/confirmation.tsx';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { tell, tellFailure } from '../frame/notices.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon } from '../icons.tsx';
import { formatAgo, formatTime } from '../texts/format.ts';
import { AccountDialog } from './account-dialog.tsx';
import type { Person } from './account-fields.tsx';
import { InvitationDialog } from './invitation-dialog.tsx';
import { PasskeyRequirementCard } from './passkey-requirement.tsx';
import { PersonActions } from './person-actions.tsx';
import classes from './settings.module.css';

interface Invitation {
  id: string;
  email: string;
  role: Role;
  expiresAt: string;
}

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
  const [changing, setChanging] = useState<Person>();
  const { data, error, refetch } = useQuery({
    queryKey: ['people'],
    queryFn: () => call<{ data: Person[] }>('GET', '/people'),
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
              <Text size="xs">
                {t(`roles.${person.role}`)}
                <EmployeeName id={person.employeeId} />
              </Text>
              <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                {person.email} ·{' '}
                {person.lastSignInAt
                  ? t('people.lastSignIn', { ago: formatAgo(person.lastSignInAt) })
                  : t('people.never')}
              </Text>
            </div>
            <Group gap="xs" wrap="nowrap">
              <Button
                size="xs"
                variant="default"
                aria-label={t('people.changeTitle', { name: person.name })}
                onClick={() => setChanging(person)}
              >
                {t('people.change')}
              </Button>
              {!person.isSelf && <PersonActions person={person} onRemove={() => setLeaving(person)} />}
            </Group>
          </li>
        ))}
      </ul>
      {changing && <AccountDialog person={changing} onClose={() => setChanging(undefined)} />}
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

function EmployeeName({ id }: { id: string | null }) {
  const { t } = useTranslation();
  const { data } = useNamed(['employee'], id ?? undefined);
  if (!data) return null;
  return ` · ${t('people.isEmployee', { name: labelOf(data.definition, data.entity) })}`;
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
