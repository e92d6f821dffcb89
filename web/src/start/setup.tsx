import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import { FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { AccountForm } from './account-form.tsx';
import { StartFrame } from './start-frame.tsx';
import { takeToken } from './token.ts';

export function SetupPage() {
  const { t } = useTranslation();
  const [token] = useState(takeToken);
  const path = `/setup/${encodeURIComponent(token)}`;
  const link = useQuery({
    queryKey: ['setup', token],
    queryFn: () => call<{ businessName: string | null }>('GET', path),
    retry: false,
  });
  if (link.isPending)
    return (
      <StartFrame title={t('setup.title')}>
        <Lines />
      </StartFrame>
    );
  if (link.error && toApiError(link.error).status === 404)
    return (
      <StartFrame title={t('setup.usedTitle')} text={t('setup.usedText')}>
        <ButtonLink to="/sign-in" variant="light">
          {t('setup.toSignIn')}
        </ButtonLink>
      </StartFrame>
    );
  return (
    <StartFrame title={t('setup.title')} text={t('setup.text')}>
      {link.error ? (
        <FailureNote error={link.error} onRetry={() => link.refetch()} />
      ) : (
        <AccountForm
          path={path}
          submitTitle={t('setup.submit')}
          fields={[
            {
              name: 'businessName',
              label: t('setup.business'),
              autoComplete: 'organization',
              defaultValue: link.data.businessName ?? '',
            },
            { name: 'name', label: t('setup.name'), autoComplete: 'name' },
            { name: 'email', label: t('setup.email'), type: 'email', autoComplete: 'username' },
          ]}
        />
      )}
    </StartFrame>
  );
}
