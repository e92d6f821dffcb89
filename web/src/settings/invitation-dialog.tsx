// Invites a colleague by a link that works once.
import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { Icon } from '../icons.tsx';
import { CopyField } from '../inputs/copy-field.tsx';
import { type AccountChoices, AccountFields } from './account-fields.tsx';
import { ResetLinkDialog } from './reset-link.tsx';

interface Known {
  id: string;
  name: string;
}

export function InvitationDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [choices, setChoices] = useState<AccountChoices>({ role: 'PFLEGE', employeeId: null });
  const [email, setEmail] = useState('');
  const invitation = useMutation({
    mutationFn: () =>
      call<{ link: string; isMailed: boolean }>('POST', '/invitations', {
        body: {
          email: email.trim(),
          role: choices.role,
          ...(choices.employeeId && { employeeId: choices.employeeId }),
        },
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
            <AccountFields choices={choices} onChange={setChoices} />
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
