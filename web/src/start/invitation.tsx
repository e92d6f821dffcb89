import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, toApiError } from '../api/client.ts';
import type { Role } from '../api/session.ts';
import { FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { AccountForm } from './account-form.tsx';
import { StartFrame } from './start-frame.tsx';
import { takeToken } from './token.ts';

interface Invitation {
  businessName: string;
  email: string;
  role: Role;
}

export function InvitationPage() {
  const { t } = useTranslation();
  const [token] = useState(takeToken);
  const path = `/invitation/${encodeURIComponent(token)}`;
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => call<Invitation>('GET', path),
    retry: false,
  });
  if (invitation.isPending)
    return (
      <StartFrame title="Stamm">
        <Lines />
      </StartFrame>
    );
  if (invitation.error) {
    const isUsed = toApiError(invitation.error).status === 404;
    return (
      <StartFrame
        title={isUsed ? t('invitation.usedTitle') : t('failure.title')}
        text={isUsed && t('invitation.usedText')}
      >
        {!isUsed && <FailureNote error={invitation.error} onRetry={() => invitation.refetch()} />}
        <ButtonLink to="/sign-in" variant="light">
          {t('setup.toSignIn')}
        </ButtonLink>
      </StartFrame>
    );
  }
  const { businessName, email, role } = invitation.data;
  return (
    <StartFrame
      title={t('invitation.title', { business: businessName })}
      text={t('invitation.text', { email, role: t(`roles.${role}`) })}
    >
      <AccountForm
        path={path}
        submitTitle={t('invitation.submit')}
        fields={[{ name: 'name', label: t('setup.name'), autoComplete: 'name' }]}
      />
    </StartFrame>
  );
}
