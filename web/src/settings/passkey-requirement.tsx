// Sets whether the business requires passkeys, and shows who has some.
import { Badge, Button, Stack, Switch, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { useMe } from '../api/session.ts';
import { Confirmation } from '../dialogs/confirmation.tsx';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { tell, tellFailure } from '../frame/notices.tsx';
import classes from './settings.module.css';

interface Requirement {
  isRequired: boolean;
  people: { id: string; passkeys: number }[];
}

interface Person {
  id: string;
  name: string;
}

const requirementKey = ['passkey-requirement'];

export function PasskeyRequirementCard() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const me = useMe();
  const [resetting, setResetting] = useState<Person>();
  const requirement = useQuery({
    queryKey: requirementKey,
    queryFn: () => call<Requirement>('GET', '/passkey-requirement'),
  });
  const people = useQuery({
    queryKey: ['people'],
    queryFn: () => call<{ data: Person[] }>('GET', '/people'),
  });
  const refresh = () => client.invalidateQueries({ queryKey: requirementKey });
  const change = useMutation({
    mutationFn: (isRequired: boolean) => call('PUT', '/passkey-requirement', { body: { isRequired } }),
    onSuccess: async (_answer, isRequired) => {
      tell(t(isRequired ? 'passkeys.nowRequired' : 'passkeys.nowOptional'));
      await refresh();
    },
    onError: tellFailure,
  });
  const countOf = (id: string) => requirement.data?.people.find((person) => person.id === id)?.passkeys ?? 0;
  const mustAddOwn = countOf(me.person.id) === 0;
  return (
    <Card title={t('passkeys.ofBusiness')} icon="passkey">
      {requirement.error && <FailureNote error={requirement.error} onRetry={() => requirement.refetch()} />}
      {requirement.isPending && <Lines />}
      {requirement.data && (
        <Stack>
          <Switch
            label={t('passkeys.require')}
            description={t(mustAddOwn ? 'passkeys.requireOwn' : 'passkeys.requireHint')}
            checked={requirement.data.isRequired}
            disabled={(mustAddOwn && !requirement.data.isRequired) || change.isPending}
            onChange={({ currentTarget }) => change.mutate(currentTarget.checked)}
          />
          <ul className={classes.rows}>
            {people.data?.data.map((person) => (
              <li key={person.id}>
                <Text size="sm" className={classes.fill}>
                  {person.name}
                </Text>
                <Badge color={countOf(person.id) > 0 ? 'leaf' : 'gray'}>
                  {countOf(person.id) > 0
                    ? t('passkeys.count', { count: countOf(person.id) })
                    : t('passkeys.countNone')}
                </Badge>
                {countOf(person.id) > 0 && person.id !== me.person.id && (
                  <Button
                    size="xs"
                    variant="default"
                    aria-label={`${t('passkeys.reset')}: ${person.name}`}
                    onClick={() => setResetting(person)}
                  >
                    {t('passkeys.reset')}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        </Stack>
      )}
      {resetting && (
        <Confirmation
          title={t('passkeys.resetTitle', { name: resetting.name })}
          text={t('passkeys.resetText', { name: resetting.name })}
          action={t('passkeys.reset')}
          onClose={() => setResetting(undefined)}
          onConfirm={async () => {
            await call('DELETE', `/people/${resetting.id}/passkeys`);
            tell(t('passkeys.resetDone', { name: resetting.name }));
            await refresh();
          }}
        />
      )}
    </Card>
  );
}
