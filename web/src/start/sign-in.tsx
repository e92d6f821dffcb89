import { Alert, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ApiError, call, toApiError } from '../api/client.ts';
import { type Me, sessionQuery, stateQuery } from '../api/session.ts';
import { Icon } from '../icons.tsx';
import { PasskeyButton, SecondFactor, type SecondFactorRequest } from './passkey-sign-in.tsx';
import { SignInHelp } from './sign-in-help.tsx';
import { StartFrame } from './start-frame.tsx';

/** Only a path of this app: a link that leads elsewhere after the sign-in would be a trap. */
function isOwnAddress(address: string | undefined): address is string {
  const { origin } = window.location;
  return address?.startsWith('/') === true && URL.parse(address, origin)?.origin === origin;
}

export function SignInPage() {
  const { t } = useTranslation();
  const { to, ended, reset } = useSearch({ strict: false }) as {
    to?: string;
    ended?: string;
    reset?: string;
  };
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data: state } = useQuery(stateQuery);
  const signIn = useMutation({
    mutationFn: (body: object) => call<Me | SecondFactorRequest>('POST', '/session', { body }),
    onSuccess: async (answer) => {
      if ('needs' in answer) setSecondFactor(answer);
      else await enter(answer);
    },
  });
  const [secondFactor, setSecondFactor] = useState<SecondFactorRequest>();

  async function enter(me: Me) {
    client.setQueryData(sessionQuery.queryKey, me);
    await navigate({ href: isOwnAddress(to) ? to : '/', replace: true });
  }

  useEffect(() => {
    if (state?.hasPeople === false) navigate({ to: '/welcome', replace: true });
  }, [state, navigate]);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    signIn.mutate({ email: form.get('email'), password: form.get('password') });
  }

  const failure = signIn.error && toApiError(signIn.error);
  if (secondFactor)
    return (
      <StartFrame title={t('passkeys.secondTitle')} text={t('passkeys.secondText')}>
        <SecondFactor
          request={secondFactor}
          onSignedIn={enter}
          onRestart={() => setSecondFactor(undefined)}
        />
      </StartFrame>
    );
  if (failure?.code === 'several_businesses')
    return (
      <BusinessChoice
        businesses={failure.details.businesses as Business[]}
        onChoose={({ id }) => signIn.mutate({ ...signIn.variables, businessId: id })}
      />
    );
  return (
    <StartFrame title={t('start.signIn')}>
      {ended && !failure && (
        <Alert variant="light" icon={<Icon name="clock" />}>
          {t('start.expired')}
        </Alert>
      )}
      {reset && !failure && (
        <Alert variant="light" icon={<Icon name="check" />} role="status">
          {t('access.resetDone')}
        </Alert>
      )}
      {failure && <SignInFailure failure={failure} />}
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            name="email"
            type="email"
            label={t('start.email')}
            autoComplete="username"
            required
            withAsterisk={false}
            size="md"
            data-autofocus
          />
          <PasswordInput
            name="password"
            label={t('start.password')}
            autoComplete="current-password"
            required
            withAsterisk={false}
            size="md"
          />
          <Button type="submit" size="md" mt="xs" loading={signIn.isPending}>
            {t('start.signIn')}
          </Button>
        </Stack>
      </form>
      <PasskeyButton onSignedIn={enter} />
      {state && <SignInHelp {...state} />}
    </StartFrame>
  );
}

function SignInFailure({ failure }: { failure: ApiError }) {
  const { t } = useTranslation();
  const seconds = failure.status === 429 ? failure.retryAfterSeconds : undefined;
  return (
    <Alert color="red" variant="light" icon={<Icon name="warning" />} role="alert">
      {seconds === undefined && failure.message}
      {seconds !== undefined && seconds < 60 && t('start.wait', { count: seconds })}
      {seconds !== undefined && seconds >= 60 && (
        <>
          {t('access.waitMinutes', { count: Math.ceil(seconds / 60) })} {t('access.waitHint')}
        </>
      )}
    </Alert>
  );
}

interface Business {
  id: string;
  name: string;
}

/** The address and the password fit people of several businesses. */
function BusinessChoice({
  businesses,
  onChoose,
}: {
  businesses: Business[];
  onChoose: (business: Business) => void;
}) {
  const { t } = useTranslation();
  return (
    <StartFrame title={t('access.chooseTitle')} text={t('access.chooseText')}>
      <Stack gap="xs">
        {businesses.map((business) => (
          <Button key={business.id} size="md" variant="default" onClick={() => onChoose(business)}>
            {business.name}
          </Button>
        ))}
      </Stack>
    </StartFrame>
  );
}
