// Notice for the first page: webhooks that Stamm paused because their receiver did not answer.
import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { webhooksQuery } from '../api/webhooks.ts';
import { AnchorLink } from '../frame/links.tsx';
import { Icon } from '../icons.tsx';

export function WebhookNotice() {
  const { t } = useTranslation();
  const { data } = useQuery(webhooksQuery);
  const stopped = data?.data.filter(
    ({ pausedBecause }) => pausedBecause === 'FAILED' || pausedBecause === 'GONE',
  );
  if (!stopped || stopped.length === 0) return null;
  return (
    <Alert color="red" variant="light" icon={<Icon name="warning" />} mb="lg">
      {t('home.webhooksPaused', { count: stopped.length })}{' '}
      <AnchorLink inherit underline="always" to="/settings/api">
        {t('home.webhooksPage')}
      </AnchorLink>
    </Alert>
  );
}
