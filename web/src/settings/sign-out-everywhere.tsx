import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { Confirmation } from '../dialogs/confirmation.tsx';
import { readHolder } from '../road/phone.ts';

export function SignOutEverywhere() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const router = useRouter();
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <Button variant="default" mt="md" onClick={() => setIsAsking(true)}>
        {t('access.everywhere')}
      </Button>
      {isAsking && (
        <Confirmation
          title={t('access.everywhereTitle')}
          text={t('access.everywhereText')}
          action={t('access.everywhere')}
          onClose={() => setIsAsking(false)}
          onConfirm={async () => {
            await call('DELETE', '/sessions');
            if (readHolder()) await (await import('../road/road.ts')).closeRoad('signed-out');
            client.clear();
            await router.navigate({ to: '/sign-in' });
          }}
        />
      )}
    </>
  );
}
