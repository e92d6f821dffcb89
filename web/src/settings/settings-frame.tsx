// The settings, with their own navigation.
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useIsAdministrator, useMe } from '../api/session.ts';
import { NotAllowedPage } from '../frame/failure.tsx';
import { Icon, type IconName } from '../icons.tsx';
import classes from './settings.module.css';

export function SettingsFrame() {
  const { t } = useTranslation();
  const isAdministrator = useIsAdministrator();
  const { isInTestBusiness } = useMe();
  const pages: { to: string; icon: IconName; title: string }[] = [
    { to: '/settings', icon: 'person', title: t('settings.profile') },
    ...(isAdministrator
      ? ([
          // People belong to the real business.
          ...(isInTestBusiness
            ? []
            : ([{ to: '/settings/people', icon: 'employee', title: t('settings.people') }] as const)),
          { to: '/settings/api', icon: 'key', title: t('settings.api') },
          { to: '/settings/visits', icon: 'calendar', title: t('settings.visits') },
          { to: '/settings/audit', icon: 'history', title: t('audit.title') },
          { to: '/settings/backups', icon: 'archive', title: t('backups.title') },
        ] as const)
      : []),
  ];
  const { pathname } = useLocation();
  const nav = useRef<HTMLElement>(null);
  // On a phone the row of pages is wider than the screen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address has another current page.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [pathname]);
  return (
    <div className={classes.page}>
      <nav ref={nav} className={`${classes.pages} screen-only`} aria-label={t('settings.title')}>
        {pages.map(({ to, icon, title }) => (
          <Link key={to} to={to} className={classes.link} activeOptions={{ exact: true }}>
            <Icon name={icon} />
            {title}
          </Link>
        ))}
        <a href="/third-party-notices.txt" className={classes.link} target="_blank" rel="noreferrer">
          <Icon name="contract" />
          {t('licences.link')}
        </a>
      </nav>
      <div className={classes.content}>
        {isAdministrator || pathname.replace(/\/$/, '') === '/settings' ? <Outlet /> : <NotAllowedPage />}
      </div>
    </div>
  );
}
