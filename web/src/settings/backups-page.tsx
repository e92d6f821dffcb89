// "Backups": the time and size of the last one, and problems.
import { Alert, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon } from '../icons.tsx';
import { formatAgo, formatNumber, formatTime } from '../texts/format.ts';

interface Backups {
  madeAt: string | null;
  bytes: number | null;
  /** Set if a backup failed since then. */
  failedAt: string | null;
  /** Null where the service makes none by itself. */
  everyHours: number | null;
  isBesideData: boolean;
}

export function BackupsPage() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery({
    queryKey: ['backups'],
    queryFn: ({ signal }) => call<Backups>('GET', '/backups', { signal }),
  });
  return (
    <>
      <PageHead title={t('backups.title')} text={t('backups.text')} />
      <Card title={t('backups.last')} icon="archive">
        {error && <FailureNote error={error} onRetry={() => refetch()} />}
        {!data && !error && <Lines count={2} />}
        {data && <LastBackup backups={data} />}
      </Card>
    </>
  );
}

function LastBackup({ backups }: { backups: Backups }) {
  const { t } = useTranslation();
  const { madeAt, bytes, everyHours, isBesideData } = backups;
  const trouble = findTrouble(backups);
  return (
    <>
      {madeAt !== null ? (
        <Text>
          {formatAgo(madeAt)} ({formatTime(madeAt)}) · {formatSize(bytes ?? 0)}
        </Text>
      ) : (
        <Text c="dimmed">{t(everyHours === null ? 'backups.off' : 'backups.first')}</Text>
      )}
      {trouble && (
        <Alert color="red" variant="light" icon={<Icon name="warning" />} mt="md">
          {t(`backups.${trouble}`)}
        </Alert>
      )}
      {isBesideData && (
        <Alert variant="light" icon={<Icon name="info" />} mt="md">
          {t('backups.besideData')}
        </Alert>
      )}
    </>
  );
}

/** Two intervals without a backup are too many; without a schedule, two days. */
function findTrouble({ madeAt, failedAt, everyHours }: Backups): 'failed' | 'old' | undefined {
  if (failedAt !== null) return 'failed';
  const oldAfterMs = 2 * (everyHours ?? 24) * 3_600_000;
  return madeAt !== null && Date.now() - Date.parse(madeAt) > oldAfterMs ? 'old' : undefined;
}

function formatSize(bytes: number): string {
  const isSmall = bytes < 1e9;
  return formatNumber(bytes / (isSmall ? 1e6 : 1e9), {
    style: 'unit',
    unit: isSmall ? 'megabyte' : 'gigabyte',
    maximumFractionDigits: 1,
  });
}
