// Says on every page that it shows the test business, with the way back.
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { leaveTestBusiness, useMe } from '../api/session.ts';
import { Icon } from '../icons.tsx';
import classes from './frame.module.css';
import { tellFailure } from './notices.tsx';

export function TestBand() {
  const { t } = useTranslation();
  const { business } = useMe();
  const leave = useMutation({ mutationFn: leaveTestBusiness, onError: tellFailure });
  return (
    <section className={classes.band} aria-label={t('testBusiness.title')}>
      <Icon name="warning" />
      <div className={classes.bandText}>
        <strong>{t('testBusiness.title')}</strong>
        <span className={classes.bandDetail}>
          {' · '}
          {t('testBusiness.bandText', { business: business.name })}
        </span>
      </div>
      <Button
        className="screen-only"
        size="compact-sm"
        color="dark"
        loading={leave.isPending || leave.isSuccess}
        onClick={() => leave.mutate()}
      >
        {t('testBusiness.leave')}
      </Button>
    </section>
  );
}
