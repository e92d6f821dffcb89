// The first steps of a new business. Nothing is ticked by hand: the service knows what has happened.
import { Button, Group, Progress, Text, Title } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { tellFailure } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';
import { formatAgo } from '../texts/format.ts';
import classes from './home.module.css';

interface State {
  hasKey: boolean;
  hasCopiedCall: boolean;
  firstRequest: null | { at: string; method: string; path: string; status: number };
  hasImport: boolean;
  hasColleague: boolean;
  isDismissed: boolean;
}

export const checklistQuery = queryOptions({
  queryKey: ['checklist'],
  queryFn: ({ signal }) => call<State>('GET', '/checklist', { signal }),
  // Poll while the business waits for its first request.
  refetchInterval: ({ state: { data } }) =>
    data?.hasKey && !data.firstRequest && !data.isDismissed ? 3000 : false,
});

export function Checklist() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { data } = useQuery(checklistQuery);
  const dismissal = useMutation({
    mutationFn: () => call('PATCH', '/checklist', { body: { isDismissed: true } }),
    onSuccess: () => client.invalidateQueries({ queryKey: checklistQuery.queryKey }),
    onError: tellFailure,
  });
  if (!data || data.isDismissed) return null;
  const { firstRequest } = data;
  const steps = [
    { key: 'key', isDone: data.hasKey, text: t('home.keyText'), to: '/settings/api' },
    { key: 'call', isDone: data.hasCopiedCall, text: t('home.callText'), to: '/settings/api' },
    {
      key: 'request',
      isDone: firstRequest !== null,
      text: firstRequest
        ? t('home.requestSeen', { ...firstRequest, ago: formatAgo(firstRequest.at) })
        : t('home.requestWaiting'),
      to: '/requests',
    },
    { key: 'import', isDone: data.hasImport, text: t('home.importText'), to: '/import' },
    { key: 'colleague', isDone: data.hasColleague, text: t('home.colleagueText'), to: '/settings/people' },
  ] as const;
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <section className={`panel ${classes.checklist}`} aria-labelledby="checklist">
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={2} id="checklist">
            {t('home.checklist')}
          </Title>
          <Text size="sm" c="dimmed">
            {t('home.checklistText')}
          </Text>
        </div>
        <Group gap="sm">
          <Text size="sm" c="dimmed">
            {t('home.progress', { done, total: steps.length })}
          </Text>
          <Button
            size="compact-sm"
            variant="subtle"
            loading={dismissal.isPending}
            onClick={() => dismissal.mutate()}
          >
            {t('home.dismiss')}
          </Button>
        </Group>
      </Group>
      <Progress
        value={(done / steps.length) * 100}
        size="sm"
        mt="sm"
        aria-label={t('home.progress', { done, total: steps.length })}
      />
      <ol className={classes.steps}>
        {steps.map(({ key, isDone, text, to }) => (
          <li key={key}>
            <Link to={to} className={classes.step} data-done={isDone || undefined}>
              <Icon name={isDone ? 'done' : 'open'} size={20} />
              <span>
                <Text size="sm" fw={600}>
                  {t(`home.${key}`)}
                </Text>
                <Text size="xs" c="dimmed">
                  {text}
                </Text>
              </span>
            </Link>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Says that a ready call was copied, which the list of first steps shows. */
export function useNoteCopy(): () => void {
  const client = useQueryClient();
  const note = useMutation({
    mutationFn: () => call('PATCH', '/checklist', { body: { hasCopiedCall: true } }),
    onSuccess: () => client.invalidateQueries({ queryKey: checklistQuery.queryKey }),
  });
  return () => note.mutate();
}
