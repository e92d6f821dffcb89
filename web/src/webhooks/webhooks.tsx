// "Webhooks" below API & interfaces: where changes are sent, whether they arrive, and what to do where they do not.
import { Alert, Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, call } from '../api/client.ts';
import { pluralOf, useDefinitions } from '../api/definitions.ts';
import { type Webhook, webhooksQuery } from '../api/webhooks.ts';
import { Confirmation } from '../dialogs/confirmation.tsx';
import { Dialog } from '../dialogs/dialog.tsx';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { tell, tellFailure } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';
import { CopyField } from '../inputs/copy-field.tsx';
import classes from '../settings/settings.module.css';
import { formatAgo, formatNumber, formatTime } from '../texts/format.ts';
import { Deliveries, type DeliveryResult, isDelivered, useResultText } from './webhook-deliveries.tsx';

/** Loads when somebody adds or changes an address. */
const WebhookForm = lazyRouteComponent(() => import('./webhook-form.tsx'), 'WebhookForm');

export function WebhooksCard() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(webhooksQuery);
  const [isAdding, setIsAdding] = useState(false);
  const [secret, setSecret] = useState<string>();
  const refresh = () => client.invalidateQueries({ queryKey: webhooksQuery.queryKey });
  return (
    <Card title={t('webhooks.title')} icon="external">
      <Text size="sm" c="dimmed" mb="md" mt={-8}>
        {t('webhooks.text')}
      </Text>
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines />}
      <ul className={classes.rows}>
        {data?.data.map((webhook) => (
          <WebhookRow key={webhook.id} webhook={webhook} onSecret={setSecret} onChange={refresh} />
        ))}
      </ul>
      {data && data.data.length < data.most && (
        <Button
          mt="sm"
          variant="default"
          leftSection={<Icon name="plus" size={16} />}
          onClick={() => setIsAdding(true)}
        >
          {t('webhooks.add')}
        </Button>
      )}
      {isAdding && (
        <Suspense>
          <WebhookForm
            onClose={() => setIsAdding(false)}
            onSaved={async (made) => {
              setIsAdding(false);
              setSecret(made);
              await refresh();
            }}
          />
        </Suspense>
      )}
      {secret && <NewSecret value={secret} onClose={() => setSecret(undefined)} />}
    </Card>
  );
}

interface RowProps {
  webhook: Webhook;
  onSecret: (secret: string) => void;
  onChange: () => Promise<unknown>;
}

function WebhookRow({ webhook, onSecret, onChange }: RowProps) {
  const { t } = useTranslation();
  const [question, setQuestion] = useState<'delete' | 'secret'>();
  const [isOpen, setIsOpen] = useState(false);
  const [isEditing, setIsEditing] = useState(false);
  const path = `/webhooks/${webhook.id}`;
  const resultText = useResultText();
  const change = useMutation({
    mutationFn: (action: 'pause' | 'resume') => call('POST', `${path}/${action}`),
    onSuccess: onChange,
    onError: tellFailure,
  });
  const check = useMutation({
    mutationFn: () => call<DeliveryResult>('POST', `${path}/test`),
    onSuccess: async (result) => {
      if (isDelivered(result)) tell(t('webhooks.tested', { result: resultText(result) }));
      else
        tellFailure(new ApiError(0, { message: t('webhooks.testFailed', { result: resultText(result) }) }));
      await onChange();
    },
    onError: tellFailure,
  });
  const confirm = async () => {
    if (question === 'delete') await call('DELETE', path);
    else onSecret((await call<{ secret: string }>('POST', `${path}/secret`)).secret);
    await onChange();
  };
  return (
    <li>
      <div className={classes.fill}>
        <Group gap="xs">
          <Text size="sm" ff="monospace" fw={600} style={{ overflowWrap: 'anywhere' }}>
            {webhook.url}
          </Text>
          <StateBadge webhook={webhook} />
        </Group>
        <Description webhook={webhook} />
      </div>
      <Group gap="xs">
        <Button size="xs" variant="default" loading={check.isPending} onClick={() => check.mutate()}>
          {t('webhooks.test')}
        </Button>
        {webhook.pausedAt || webhook.failingSince ? (
          <Button
            size="xs"
            variant="default"
            loading={change.isPending}
            onClick={() => change.mutate('resume')}
          >
            {t(webhook.pausedAt ? 'webhooks.resume' : 'webhooks.retry')}
          </Button>
        ) : (
          <Button
            size="xs"
            variant="default"
            loading={change.isPending}
            onClick={() => change.mutate('pause')}
          >
            {t('webhooks.pause')}
          </Button>
        )}
        <Button size="xs" variant="default" onClick={() => setIsEditing(true)}>
          {t('actions.edit')}
        </Button>
        <Button size="xs" variant="default" onClick={() => setQuestion('secret')}>
          {t('webhooks.replaceSecret')}
        </Button>
        <Button size="xs" variant="default" onClick={() => setQuestion('delete')}>
          {t('webhooks.delete')}
        </Button>
        <Button size="xs" variant="subtle" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {t('webhooks.log')}
        </Button>
      </Group>
      {isEditing && (
        <Suspense>
          <WebhookForm
            webhook={webhook}
            onClose={() => setIsEditing(false)}
            onSaved={async () => {
              setIsEditing(false);
              await onChange();
            }}
          />
        </Suspense>
      )}
      {isOpen && <Deliveries webhookId={webhook.id} onChange={onChange} />}
      {question && (
        <Confirmation
          title={t(`webhooks.${question}Title`)}
          text={t(`webhooks.${question}Text`, { url: webhook.url })}
          action={t(question === 'delete' ? 'webhooks.delete' : 'webhooks.replaceSecret')}
          isDangerous={question === 'delete'}
          onConfirm={confirm}
          onClose={() => setQuestion(undefined)}
        />
      )}
    </li>
  );
}

function StateBadge({ webhook: { pausedBecause, failingSince } }: { webhook: Webhook }) {
  const { t } = useTranslation();
  if (pausedBecause === 'ASKED') return <Badge color="gray">{t('webhooks.paused')}</Badge>;
  if (pausedBecause) return <Badge color="red">{t('webhooks.stopped')}</Badge>;
  return (
    <Badge color={failingSince ? 'yellow' : undefined}>
      {t(failingSince ? 'webhooks.failing' : 'webhooks.active')}
    </Badge>
  );
}

function Description({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation();
  const definitions = useDefinitions();
  const wanted = definitions.filter(({ name }) => webhook.resources?.includes(name)).map(pluralOf);
  const { waitingEntries, nextAttemptAt, previousSecretEndsAt } = webhook;
  const parts = [
    wanted.length > 0 ? wanted.join(', ') : t('webhooks.all'),
    webhook.actions?.map((action) => t(`webhooks.action.${action}`)).join(', '),
    webhook.excludeOrigin && t('webhooks.without', { origin: webhook.excludeOrigin }),
    waitingEntries > 0 &&
      t('webhooks.waiting', { count: waitingEntries, formatted: formatNumber(waitingEntries) }),
    nextAttemptAt && t('webhooks.nextAttempt', { when: formatTime(nextAttemptAt) }),
    previousSecretEndsAt && t('webhooks.oldSecret', { when: formatTime(previousSecretEndsAt) }),
  ];
  return (
    <>
      <Text size="xs" c="dimmed">
        {parts.filter(Boolean).join(' · ')}
      </Text>
      {(webhook.pausedBecause === 'FAILED' || webhook.pausedBecause === 'GONE') && (
        <Alert mt="xs" color="red" variant="light" icon={<Icon name="warning" />}>
          {t(`webhooks.${webhook.pausedBecause}`, { ago: formatAgo(webhook.pausedAt!) })}
        </Alert>
      )}
    </>
  );
}

/** Only its button closes it: a click beside it must not lose the secret. */
function NewSecret({ value, onClose }: { value: string; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog
      onClose={onClose}
      title={t('webhooks.secretShown')}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        <Text size="sm">{t('webhooks.secretShownText')}</Text>
        <CopyField value={value} />
        <Group justify="flex-end">
          <Button onClick={onClose}>{t('webhooks.stored')}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
