// The secret address under which calendar programs read the visits of an employee or at a site.
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { tell, tellFailure } from '../frame/notices.tsx';
import { CopyField } from '../inputs/copy-field.tsx';
import { formatAgo, formatDay, formatNumber } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';

interface Feed {
  createdAt: string;
  createdBy: string;
  completeUntil: string | null;
  includedSites: number | null;
}

export function CalendarFeed({ resource, id }: { resource: 'employee' | 'site'; id: string }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const path = `/calendar-feeds/${resource}/${id}`;
  const query = queryOptions({
    queryKey: ['calendar-feed', resource, id],
    queryFn: ({ signal }) => call<{ feed: Feed | null }>('GET', path, { signal }),
  });
  const { data, error, refetch } = useQuery(query);
  const creation = useMutation({
    mutationFn: () => call<{ address: string }>('PUT', path, { body: { language: currentLanguage() } }),
    onSuccess: () => client.invalidateQueries(query),
    onError: tellFailure,
  });
  const removal = useMutation({
    mutationFn: () => call('DELETE', path),
    onSuccess: async () => {
      creation.reset();
      await client.invalidateQueries(query);
      tell(t('calendarFeed.removed'));
    },
    onError: tellFailure,
  });
  const feed = data?.feed;
  return (
    <Card title={t('calendarFeed.title')} icon="calendar">
      <Stack gap="sm">
        {error && <FailureNote error={error} onRetry={() => refetch()} />}
        {!data && !error && <Lines count={2} />}
        <Text size="sm" c="dimmed">
          {feed
            ? t('calendarFeed.made', { ago: formatAgo(feed.createdAt), person: feed.createdBy })
            : t('calendarFeed.text')}
        </Text>
        {feed?.completeUntil && (
          <Text size="sm">{t('calendarFeed.endsEarly', { day: formatDay(feed.completeUntil) })}</Text>
        )}
        {feed?.includedSites && (
          <Text size="sm">{t('calendarFeed.fewerSites', { number: formatNumber(feed.includedSites) })}</Text>
        )}
        {creation.data && (
          <Alert color="leaf" variant="light" title={t('calendarFeed.once')}>
            <CopyField value={creation.data.address} />
          </Alert>
        )}
        {data && (
          <Group gap="xs">
            <Button
              size="compact-sm"
              variant="default"
              loading={creation.isPending}
              onClick={() => creation.mutate()}
            >
              {t(feed ? 'calendarFeed.replace' : 'calendarFeed.create')}
            </Button>
            {feed && (
              <Button
                size="compact-sm"
                variant="subtle"
                color="red"
                loading={removal.isPending}
                onClick={() => removal.mutate()}
              >
                {t('actions.remove')}
              </Button>
            )}
          </Group>
        )}
      </Stack>
    </Card>
  );
}
