// "API & interfaces": the one key of the business, and everything an ERP developer needs to begin.
import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { Confirmation } from '../dialogs/confirmation.tsx';
import { Card } from '../frame/card.tsx';
import { EmptyNote, FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { tell } from '../frame/notices.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { checklistQuery } from '../home/checklist.tsx';
import { Icon } from '../icons.tsx';
import { type ActorNames, actorHint, actorText } from '../records/actor.tsx';
import { formatAgo, formatNumber } from '../texts/format.ts';
import { WebhooksCard } from '../webhooks/webhooks.tsx';
import { NewKey } from './new-key.tsx';
import { ReadyCalls } from './ready-calls.tsx';
import classes from './settings.module.css';
import { TestBusinessCard } from './test-business.tsx';

interface Key {
  prefix: string;
  lastFour: string;
  createdAt: string;
  createdBy: string | null;
  createdById: string | null;
  createdByEmail: string | null;
  lastUsedAt: string | null;
}

interface EndedKey {
  lastFour: string;
  endedAt: string;
  endedBy: 'REPLACED' | 'DELETED';
  uses: { address: string; userAgent: string; count: number; lastUsedAt: string }[];
}

const keyQuery = queryOptions({
  queryKey: ['key'],
  queryFn: ({ signal }) => call<{ key: Key | null; ended: EndedKey[] }>('GET', '/key', { signal }),
});

export function ApiPage() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(keyQuery);
  // Keep the key in memory only, until the person leaves the page: a key is shown once.
  const [newKey, setNewKey] = useState<string>();
  return (
    <>
      <PageHead title={t('api.title')} text={t('api.text')} />
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines count={6} />}
      {data && (
        <Stack gap="lg">
          <KeyCard apiKey={data.key} onNewKey={setNewKey} />
          <ReadyCalls apiKey={newKey} />
          <WebhooksCard />
          <TestBusinessCard />
          {data.ended.length > 0 && <EndedKeys keys={data.ended} />}
        </Stack>
      )}
    </>
  );
}

type Question = 'make' | 'replace' | 'delete';

function KeyCard({ apiKey, onNewKey }: { apiKey: Key | null; onNewKey: (key: string) => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [question, setQuestion] = useState<Question>();
  const [shownKey, setShownKey] = useState<string>();
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: keyQuery.queryKey });
    await client.invalidateQueries({ queryKey: checklistQuery.queryKey });
  };

  async function makeKey() {
    const { key } = await call<{ key: string }>('POST', '/key');
    setShownKey(key);
    onNewKey(key);
    await refresh();
  }
  async function deleteKey() {
    await call('DELETE', '/key');
    tell(t('api.deleted'));
    await refresh();
  }

  return (
    <Card title={t('api.key')} icon="key">
      {apiKey ? (
        <Group justify="space-between" gap="md">
          <div className={classes.fill}>
            <Text ff="monospace" fw={600}>
              {apiKey.prefix}…{apiKey.lastFour}
            </Text>
            <Text size="sm" c="dimmed">
              {apiKey.createdBy
                ? t('api.made', {
                    when: formatAgo(apiKey.createdAt),
                    who: makerOf(apiKey, apiKey.createdBy, t),
                  })
                : t('api.madeWithoutName', { when: formatAgo(apiKey.createdAt) })}
              {', '}
              {apiKey.lastUsedAt ? t('api.used', { ago: formatAgo(apiKey.lastUsedAt) }) : t('api.unused')}
            </Text>
          </div>
          <Group gap="xs">
            <Button variant="default" onClick={() => setQuestion('delete')}>
              {t('api.delete')}
            </Button>
            <Button
              variant="default"
              leftSection={<Icon name="refresh" size={16} />}
              onClick={() => setQuestion('replace')}
            >
              {t('api.replace')}
            </Button>
          </Group>
        </Group>
      ) : (
        <EmptyNote icon="key" title={t('api.none')} text={t('api.noneText')}>
          <Button mt="sm" onClick={() => setQuestion('make')}>
            {t('api.make')}
          </Button>
        </EmptyNote>
      )}
      {question && (
        <Confirmation
          title={t(`api.${question}Title`)}
          text={t(`api.${question}Text`, { lastFour: apiKey?.lastFour })}
          action={t(`api.${question}`)}
          isDangerous={question !== 'make'}
          onConfirm={question === 'delete' ? deleteKey : makeKey}
          onClose={() => setQuestion(undefined)}
        />
      )}
      {shownKey && <NewKey value={shownKey} onClose={() => setShownKey(undefined)} />}
    </Card>
  );
}

function makerOf({ createdById, createdByEmail }: Key, createdBy: string, t: TFunction): string {
  const isCommandLine = createdById === null && createdBy === 'command line';
  const names: ActorNames = {
    actor: createdBy,
    actorType: isCommandLine ? 'COMMAND_LINE' : 'PERSON',
    actorId: createdById,
    actorEmail: createdByEmail,
  };
  const hint = actorHint(names, t);
  return hint ? `${actorText(names, t)} (${hint})` : actorText(names, t);
}

function EndedKeys({ keys }: { keys: EndedKey[] }) {
  const { t } = useTranslation();
  return (
    <Card title={t('api.ended')} icon="history">
      <Text size="sm" c="dimmed" mb="md" mt={-8}>
        {t('api.endedText')}
      </Text>
      <ul className={classes.rows}>
        {keys.map((key) => (
          <li key={`${key.lastFour} ${key.endedAt}`}>
            <div className={classes.fill}>
              <Group gap="xs">
                <Text size="sm" ff="monospace" fw={600}>
                  …{key.lastFour}
                </Text>
                <Text size="sm" c="dimmed">
                  {t(`api.${key.endedBy}`, { when: formatAgo(key.endedAt) })}
                </Text>
              </Group>
              {key.uses.length === 0 ? (
                <Text size="xs" c="dimmed">
                  {t('api.usesNone')}
                </Text>
              ) : (
                key.uses.map((use) => (
                  <Group key={`${use.address} ${use.userAgent}`} gap="xs" mt={4}>
                    <Badge color="red">
                      {t('api.uses', { count: use.count, formatted: formatNumber(use.count) })}
                    </Badge>
                    <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                      {use.address
                        ? `${t('api.from', { address: use.address })} · ${use.userAgent}`
                        : t('api.fromOthers')}{' '}
                      · {t('api.used', { ago: formatAgo(use.lastUsedAt) })}
                    </Text>
                  </Group>
                ))
              )}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
