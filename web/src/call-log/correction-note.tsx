// Says that somebody has corrected a refused call, and leads to the record.
import { Alert, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Icon } from '../icons.tsx';
import { NamedLink } from '../records/value.tsx';
import { formatAgo } from '../texts/format.ts';
import type { RequestCorrection } from './requests.ts';

export function CorrectionNote({ correction }: { correction: RequestCorrection }) {
  const { t } = useTranslation();
  const { person, at, resource, id } = correction;
  return (
    <Alert color="leaf" variant="light" icon={<Icon name="check" />} title={t('requests.corrected')}>
      <Text size="sm">
        {t('requests.correctedBy', { person: person ?? t('actor.forgotten'), ago: formatAgo(at) })}{' '}
        <NamedLink resources={[resource]} id={id} />
      </Text>
    </Alert>
  );
}
