// The form that adds a webhook, and the one that changes its address and what it receives.
import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import { pluralOf, useDefinitions } from '../api/definitions.ts';
import type { Webhook } from '../api/webhooks.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { FailureNote } from '../frame/failure.tsx';

const changeActions = ['CREATED', 'CHANGED', 'DELETED'] as const;

interface Props {
  /** Absent for a new one. */
  webhook?: Pick<Webhook, 'id' | 'url' | 'resources' | 'actions' | 'excludeOrigin'>;
  onClose: () => void;
  /** Called with the secret of a new webhook. */
  onSaved: (secret: string | undefined) => Promise<unknown>;
}

export function WebhookForm({ webhook, onClose, onSaved }: Props) {
  const { t } = useTranslation();
  const definitions = useDefinitions();
  const [url, setUrl] = useState(webhook?.url ?? 'https://');
  const [wanted, setWanted] = useState<string[]>(webhook?.resources ?? []);
  const [actions, setActions] = useState<string[]>(webhook?.actions ?? []);
  const [excludeOrigin, setExcludeOrigin] = useState(webhook?.excludeOrigin ?? '');
  const save = useMutation({
    mutationFn: async () => {
      const body = { url, resources: wanted, actions, excludeOrigin: excludeOrigin.trim() || null };
      if (!webhook) return (await call<{ secret: string }>('POST', '/webhooks', { body })).secret;
      await call('PATCH', `/webhooks/${webhook.id}`, { body });
      return undefined;
    },
    onSuccess: onSaved,
  });
  const failure = save.error && toApiError(save.error);
  const errorOf = (name: string) => failure?.errors.find(({ field }) => field === name)?.message;
  return (
    <Dialog onClose={onClose} title={t(webhook ? 'webhooks.editTitle' : 'webhooks.addTitle')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack>
          <TextInput
            label={t('webhooks.url')}
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
            error={errorOf('url')}
            inputMode="url"
            autoComplete="off"
            data-autofocus
          />
          <Checkbox.Group
            label={t('webhooks.resources')}
            description={t('webhooks.resourcesHint')}
            value={wanted}
            onChange={setWanted}
          >
            <Group mt="xs" gap="sm">
              {definitions.map((definition) => (
                <Checkbox key={definition.name} value={definition.name} label={pluralOf(definition)} />
              ))}
            </Group>
          </Checkbox.Group>
          <Checkbox.Group label={t('webhooks.actions')} value={actions} onChange={setActions}>
            <Group mt="xs" gap="sm">
              {changeActions.map((action) => (
                <Checkbox key={action} value={action} label={t(`webhooks.action.${action}`)} />
              ))}
            </Group>
          </Checkbox.Group>
          <TextInput
            label={t('webhooks.excludeOrigin')}
            description={t('webhooks.excludeOriginHint')}
            value={excludeOrigin}
            onChange={(event) => setExcludeOrigin(event.currentTarget.value)}
            error={errorOf('excludeOrigin')}
            autoComplete="off"
          />
          {failure && !errorOf('url') && !errorOf('excludeOrigin') && <FailureNote error={failure} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('actions.cancel')}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {t(webhook ? 'actions.save' : 'webhooks.add')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
