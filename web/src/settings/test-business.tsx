// "Test business" below API & interfaces: a masked copy for developers, its key, and the progress of filling it.
import { Button, Group, Progress, Text } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { enterTestBusiness, sessionQuery, useMe } from '../api/session.ts';
import { Confirmation } from '../dialogs/confirmation.tsx';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { tellFailure } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';
import { formatAgo, formatNumber } from '../texts/format.ts';
import { NewKey } from './new-key.tsx';
import classes from './settings.module.css';

interface TestBusiness {
  goal: 'FILLED' | 'EMPTY' | 'REMOVED';
  stage: 'EMPTYING' | 'FILLING' | null;
  copied: number;
  skipped: number;
  total: number | null;
  endedAt: string | null;
  key: { prefix: string; lastFour: string; lastUsedAt: string | null } | null;
}

const pollMs = 1000;

const testBusinessQuery = queryOptions({
  queryKey: ['test-business'],
  queryFn: ({ signal }) => call<{ testBusiness: TestBusiness | null }>('GET', '/test-business', { signal }),
  refetchInterval: ({ state }) => (state.data?.testBusiness?.stage ? pollMs : false),
});

type Question = 'create' | 'reset' | 'empty' | 'key' | 'remove';

export function TestBusinessCard() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(testBusinessQuery);
  const { isInTestBusiness } = useMe();
  const [question, setQuestion] = useState<Question>();
  const [newKey, setNewKey] = useState<string>();
  const enter = useMutation({ mutationFn: enterTestBusiness, onError: tellFailure });
  const found = data?.testBusiness;
  const refresh = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: testBusinessQuery.queryKey }),
      client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
    ]);

  async function confirm() {
    if (question === 'remove') await call('DELETE', '/test-business');
    else if (question === 'reset' || question === 'empty')
      await call('POST', '/test-business/reset', { body: { isFilled: question === 'reset' } });
    else {
      const path = question === 'create' ? '/test-business' : '/test-business/key';
      setNewKey((await call<{ key: string }>('POST', path)).key);
    }
    await refresh();
  }

  return (
    <Card title={t('testBusiness.title')} icon="code">
      <Text size="sm" c="dimmed" mb="md" mt={-8}>
        {t('testBusiness.text')}
      </Text>
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines count={2} />}
      {data && !found && (
        <Button
          variant="default"
          leftSection={<Icon name="plus" size={16} />}
          onClick={() => setQuestion('create')}
        >
          {t('testBusiness.create')}
        </Button>
      )}
      {found && <Status testBusiness={found} />}
      {found && found.goal !== 'REMOVED' && (
        <Group gap="xs" mt="md">
          {!isInTestBusiness && (
            <Button loading={enter.isPending || enter.isSuccess} onClick={() => enter.mutate()}>
              {t('testBusiness.enter')}
            </Button>
          )}
          <Button variant="default" onClick={() => setQuestion('reset')}>
            {t('testBusiness.reset')}
          </Button>
          <Button variant="default" onClick={() => setQuestion('empty')}>
            {t('testBusiness.empty')}
          </Button>
          {!isInTestBusiness && (
            <>
              <Button variant="default" onClick={() => setQuestion('key')}>
                {t('testBusiness.key')}
              </Button>
              <Button variant="default" onClick={() => setQuestion('remove')}>
                {t('testBusiness.remove')}
              </Button>
            </>
          )}
        </Group>
      )}
      {question && (
        <Confirmation
          title={t(`testBusiness.${question}Title`)}
          text={t(`testBusiness.${question}Text`)}
          action={t(`testBusiness.${question}`)}
          isDangerous={question !== 'create'}
          onConfirm={confirm}
          onClose={() => setQuestion(undefined)}
        />
      )}
      {newKey && <NewKey value={newKey} onClose={() => setNewKey(undefined)} />}
    </Card>
  );
}

function Status({ testBusiness }: { testBusiness: TestBusiness }) {
  const { t } = useTranslation();
  const { key, stage, copied, skipped, total } = testBusiness;
  return (
    <div className={classes.fill}>
      {key && (
        <Text size="sm">
          <Text span ff="monospace" fw={600}>
            {key.prefix}…{key.lastFour}
          </Text>
          <Text span c="dimmed">
            {' · '}
            {key.lastUsedAt ? t('api.used', { ago: formatAgo(key.lastUsedAt) }) : t('api.unused')}
          </Text>
        </Text>
      )}
      <Text size="sm" c="dimmed" role="status">
        {useStatusText(testBusiness)}
      </Text>
      {stage === 'FILLING' && total !== null && total > 0 && (
        <Progress
          mt="xs"
          maw="24rem"
          value={(100 * (copied + skipped)) / total}
          aria-label={t('testBusiness.title')}
        />
      )}
    </div>
  );
}

function useStatusText({ goal, stage, copied, skipped, total, endedAt }: TestBusiness): string {
  const { t } = useTranslation();
  if (goal === 'REMOVED') return t('testBusiness.removing');
  if (stage === 'EMPTYING') return t('testBusiness.emptying');
  if (stage === 'FILLING')
    return total === null
      ? t('testBusiness.starting')
      : t('testBusiness.filling', { done: formatNumber(copied + skipped), total: formatNumber(total) });
  if (goal === 'EMPTY') return t('testBusiness.isEmpty');
  const filled = t('testBusiness.filled', {
    count: copied,
    formatted: formatNumber(copied),
    when: formatAgo(endedAt!),
  });
  return skipped > 0
    ? `${filled} ${t('testBusiness.skipped', { count: skipped, formatted: formatNumber(skipped) })}`
    : filled;
}
