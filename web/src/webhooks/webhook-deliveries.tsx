// The log of a webhook: what was sent, what the receiver answered, and sending it again.

import { Badge, Button, Code, Group, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DeliveryError } from '../../../core/definition/codes.ts';
import { call, queryString } from '../api/client.ts';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { tell, tellFailure } from '../frame/notices.tsx';
import classes from '../settings/settings.module.css';
import { formatNumber, formatTime } from '../texts/format.ts';

export interface DeliveryResult {
  status?: number | null;
  error?: DeliveryError | null;
  durationMs: number;
}

interface Delivery extends DeliveryResult {
  id: string;
  at: string;
  type: string;
  answer: string | null;
}

interface Page {
  data: Delivery[];
  nextCursor: string | null;
}

export function isDelivered({ status }: DeliveryResult): boolean {
  return typeof status === 'number' && status >= 200 && status < 300;
}

export function useResultText(): (result: DeliveryResult) => string {
  const { t } = useTranslation();
  return ({ status, error }) =>
    status ? t('webhooks.status', { status }) : t(`webhooks.errors.${error ?? 'connection_failed'}`);
}

export function Deliveries({ webhookId, onChange }: { webhookId: string; onChange: () => Promise<unknown> }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const path = `/webhooks/${webhookId}`;
  const queryKey = ['webhooks', webhookId, 'deliveries'];
  const { data, error, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      call<Page>('GET', `${path}/deliveries${queryString({ before: pageParam })}`, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }: Page) => nextCursor ?? undefined,
  });
  const resultText = useResultText();
  const refresh = async () => {
    await client.invalidateQueries({ queryKey });
    await onChange();
  };
  const resend = useMutation({
    mutationFn: (deliveryId: string) =>
      call<DeliveryResult>('POST', `${path}/resend`, { body: { deliveryId } }),
    onSuccess: async (result) => {
      tell(t('webhooks.resent', { result: resultText(result) }));
      await refresh();
    },
    onError: tellFailure,
  });
  const deliveries = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <div style={{ flexBasis: '100%', minWidth: 0 }}>
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines />}
      {data && deliveries.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('webhooks.logNone')}
        </Text>
      )}
      {deliveries.length > 0 && <ResendSince path={path} onDone={refresh} />}
      <ul className={classes.rows}>
        {deliveries.map((delivery) => (
          <li key={delivery.id}>
            <div className={classes.fill}>
              <Group gap="xs">
                <Badge color={isDelivered(delivery) ? undefined : 'red'}>{resultText(delivery)}</Badge>
                <Text size="sm" ff="monospace">
                  {delivery.type}
                </Text>
                <Text size="xs" c="dimmed">
                  {formatTime(delivery.at)} · {formatNumber(delivery.durationMs)} ms
                </Text>
              </Group>
              {delivery.answer && (
                <Code block mt={4} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                  {delivery.answer}
                </Code>
              )}
            </div>
            <Button
              size="compact-xs"
              variant="default"
              loading={resend.isPending && resend.variables === delivery.id}
              onClick={() => resend.mutate(delivery.id)}
            >
              {t('webhooks.resend')}
            </Button>
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <Button size="compact-sm" variant="subtle" onClick={() => fetchNextPage()}>
          {t('actions.more')}
        </Button>
      )}
    </div>
  );
}

function ResendSince({ path, onDone }: { path: string; onDone: () => Promise<unknown> }) {
  const { t } = useTranslation();
  const [since, setSince] = useState('');
  const resend = useMutation({
    mutationFn: () =>
      call<{ from: string | null; entries: number }>('POST', `${path}/resend`, {
        body: { since: new Date(since).toISOString() },
      }),
    onSuccess: async ({ from, entries }) => {
      tell(
        from
          ? t('webhooks.resentSince', { when: formatTime(from), entries: formatNumber(entries) })
          : t('webhooks.resentNothing'),
      );
      await onDone();
    },
    onError: tellFailure,
  });
  return (
    <Group align="flex-end" gap="xs" mb="sm">
      <TextInput
        type="datetime-local"
        size="xs"
        label={t('webhooks.since')}
        value={since}
        onChange={(event) => setSince(event.currentTarget.value)}
      />
      <Button
        size="xs"
        variant="default"
        disabled={since === ''}
        loading={resend.isPending}
        onClick={() => resend.mutate()}
      >
        {t('webhooks.resendAll')}
      </Button>
    </Group>
  );
}
