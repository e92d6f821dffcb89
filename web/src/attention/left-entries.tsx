// Entries that somebody leaves as they are, with a reason, and takes back.
import { Button, Group, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { type AttentionEntry, type Page, useForgetReadings } from '../api/records.ts';
import { useMayEdit } from '../api/session.ts';
import { EmptyNote, FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { tell, tellFailure } from '../frame/notices.tsx';
import { formatAgo } from '../texts/format.ts';
import classes from './attention.module.css';
import { EntryWords, useEntryName } from './entry-words.tsx';

type LeftEntry = Pick<AttentionEntry, 'resource' | 'id' | 'field' | 'code'> & {
  reason: string | null;
  leftAt: string;
  /** null for somebody who has left the business. */
  leftBy: string | null;
};

const namesOf = ({ resource, id, field, code }: Pick<LeftEntry, 'resource' | 'id' | 'field' | 'code'>) => ({
  ...{ resource, id, field, code },
});

export function LeaveForm({ entry }: { entry: AttentionEntry }) {
  const { t } = useTranslation();
  const forgetReadings = useForgetReadings();
  const [reason, setReason] = useState('');
  const leaving = useMutation({
    mutationFn: () =>
      call('POST', '/attention/left', {
        body: { ...namesOf(entry), ...(reason.trim() && { reason: reason.trim() }) },
      }),
    onSuccess: async () => {
      tell(t('attention.leftDone'));
      await forgetReadings();
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        leaving.mutate();
      }}
    >
      <Group align="flex-end" gap="sm">
        <TextInput
          label={t('attention.reason')}
          placeholder={t('attention.reasonExample')}
          maxLength={150}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
          w="min(100%, 26rem)"
          data-autofocus
          autoFocus
        />
        <Button type="submit" loading={leaving.isPending}>
          {t('attention.leave')}
        </Button>
      </Group>
      {leaving.error && <FailureNote error={leaving.error} />}
    </form>
  );
}

export function LeftEntries() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery({
    queryKey: ['attention', 'left'],
    queryFn: ({ signal }) => call<Pick<Page<LeftEntry>, 'data'>>('GET', '/attention/left', { signal }),
  });
  if (error) return <FailureNote error={error} onRetry={() => refetch()} />;
  if (!data) return <Lines count={6} height={28} />;
  if (data.data.length === 0) {
    return (
      <div className="panel">
        <EmptyNote icon="check" title={t('attention.leftNone')} text={t('attention.leftNoneText')} />
      </div>
    );
  }
  return (
    <ul className={`panel ${classes.list}`}>
      {data.data.map((entry) => (
        <Left key={`${entry.id} ${entry.field} ${entry.code}`} entry={entry} />
      ))}
    </ul>
  );
}

function Left({ entry }: { entry: LeftEntry }) {
  const { t } = useTranslation();
  const mayEdit = useMayEdit();
  const forgetReadings = useForgetReadings();
  const name = useEntryName(entry);
  const reopening = useMutation({
    mutationFn: () => call('POST', '/attention/reopened', { body: namesOf(entry) }),
    onSuccess: () => forgetReadings(),
    onError: tellFailure,
  });
  const by = t('attention.leftBy', {
    name: entry.leftBy ?? t('actor.forgotten'),
    ago: formatAgo(entry.leftAt),
  });
  return (
    <li>
      <div className={classes.entry}>
        <EntryWords entry={entry}>
          {entry.reason && <Text size="sm">{entry.reason}</Text>}
          <Text size="sm" c="dimmed">
            {by}
          </Text>
        </EntryWords>
        {mayEdit && (
          <Group className={classes.actions}>
            <Button
              size="xs"
              variant="default"
              loading={reopening.isPending}
              aria-label={`${t('attention.reopen')}: ${name}`}
              onClick={() => reopening.mutate()}
            >
              {t('attention.reopen')}
            </Button>
          </Group>
        )}
      </div>
    </li>
  );
}
