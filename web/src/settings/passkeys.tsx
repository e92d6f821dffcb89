// The passkeys and recovery codes of the person who is signed in.
import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import { addPasskey, canUsePasskeys, type Passkey, passkeysQuery } from '../api/passkeys.ts';
import { Confirmation } from '../dialogs/confirmation.tsx';
import { FormDialog } from '../dialogs/form-dialog.tsx';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { tell, tellFailure } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';
import { formatAgo } from '../texts/format.ts';
import { RecoveryCodesDialog } from './recovery-codes.tsx';
import classes from './settings.module.css';

export function PasskeysCard() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(passkeysQuery);
  const [codes, setCodes] = useState<string[]>();
  const refresh = () => client.invalidateQueries({ queryKey: passkeysQuery.queryKey });
  const codeCreation = useMutation({
    mutationFn: () => call<{ codes: string[] }>('POST', '/recovery-codes'),
    onSuccess: async (made) => {
      setCodes(made.codes);
      await refresh();
    },
    onError: tellFailure,
  });
  const addition = useMutation({
    mutationFn: addPasskey,
    onSuccess: async () => {
      tell(t('passkeys.added'));
      // Make recovery codes with the first passkey: they are the way in without it.
      if (data?.recoveryCodesLeft === 0) codeCreation.mutate();
      await refresh();
    },
    onError: tellFailure,
  });
  const canAdd = canUsePasskeys();
  return (
    <Card
      title={t('passkeys.title')}
      icon="passkey"
      actions={
        canAdd && (
          <Button size="xs" variant="default" loading={addition.isPending} onClick={() => addition.mutate()}>
            {t('passkeys.add')}
          </Button>
        )
      }
    >
      <Stack>
        <Text size="sm" c="dimmed" mt={-8}>
          {t('passkeys.text')}
        </Text>
        {!canAdd && (
          <Alert variant="light" color="gray" icon={<Icon name="info" />}>
            {t('passkeys.unavailable')}
          </Alert>
        )}
        {error && <FailureNote error={error} onRetry={() => refetch()} />}
        {!data && !error && <Lines />}
        {data && data.data.length > 0 && (
          <ul className={classes.rows}>
            {data.data.map((passkey) => (
              <PasskeyRow key={passkey.id} passkey={passkey} onChange={refresh} />
            ))}
          </ul>
        )}
        {data && data.data.length > 0 && (
          <Group justify="space-between" gap="xs">
            <Text size="sm">{t('passkeys.codesLeft', { count: data.recoveryCodesLeft })}</Text>
            <Button
              size="xs"
              variant="default"
              loading={codeCreation.isPending}
              onClick={() => codeCreation.mutate()}
            >
              {t('passkeys.makeCodes')}
            </Button>
          </Group>
        )}
      </Stack>
      {codes && <RecoveryCodesDialog codes={codes} onClose={() => setCodes(undefined)} />}
    </Card>
  );
}

function PasskeyRow({ passkey, onChange }: { passkey: Passkey; onChange: () => Promise<unknown> }) {
  const { t } = useTranslation();
  const [dialog, setDialog] = useState<'rename' | 'remove'>();
  const { name, rpId } = passkey;
  const facts = [
    t('passkeys.created', { ago: formatAgo(passkey.createdAt) }),
    passkey.lastUsedAt
      ? t('passkeys.lastUsed', { ago: formatAgo(passkey.lastUsedAt) })
      : t('passkeys.neverUsed'),
    rpId !== window.location.hostname && t('passkeys.elsewhere', { address: rpId }),
  ];
  return (
    <li>
      <div className={classes.fill}>
        <Text size="sm" fw={550} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          {facts.filter(Boolean).join(' · ')}
        </Text>
      </div>
      <Group gap="xs" wrap="nowrap">
        <Button
          size="xs"
          variant="default"
          aria-label={`${t('passkeys.rename')}: ${name}`}
          onClick={() => setDialog('rename')}
        >
          {t('passkeys.rename')}
        </Button>
        <Button
          size="xs"
          variant="default"
          aria-label={`${t('actions.remove')}: ${name}`}
          onClick={() => setDialog('remove')}
        >
          {t('actions.remove')}
        </Button>
      </Group>
      {dialog === 'rename' && (
        <RenameDialog passkey={passkey} onChange={onChange} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'remove' && (
        <Confirmation
          title={t('passkeys.removeTitle', { name })}
          text={t('passkeys.removeText')}
          action={t('actions.remove')}
          onClose={() => setDialog(undefined)}
          onConfirm={async () => {
            await call('DELETE', `/passkeys/${passkey.id}`);
            tell(t('passkeys.removed'));
            await onChange();
          }}
        />
      )}
    </li>
  );
}

interface RenameProps {
  passkey: Passkey;
  onChange: () => Promise<unknown>;
  onClose: () => void;
}

function RenameDialog({ passkey, onChange, onClose }: RenameProps) {
  const { t } = useTranslation();
  const [name, setName] = useState(passkey.name);
  const renaming = useMutation({
    mutationFn: () => call('PATCH', `/passkeys/${passkey.id}`, { body: { name } }),
    onSuccess: async () => {
      await onChange();
      onClose();
    },
  });
  const failure = renaming.error && toApiError(renaming.error);
  return (
    <FormDialog
      title={t('passkeys.renameTitle')}
      action={t('actions.save')}
      isPending={renaming.isPending}
      onSubmit={() => renaming.mutate()}
      onClose={onClose}
    >
      <TextInput
        data-autofocus
        label={t('passkeys.name')}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        error={failure && (failure.errors[0]?.message ?? failure.message)}
      />
    </FormDialog>
  );
}
