// The navigation that somebody on the road always has in reach, and the state of the network.
import { Text, UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { use, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { AnchorLink } from '../frame/links.tsx';
import { Icon, type IconName } from '../icons.tsx';
import { SearchButtonProps } from '../search/search-button.tsx';
import { formatTime } from '../texts/format.ts';
import classes from './road.module.css';
import { networkState, subscribeNetwork } from './shelf.ts';
import { useChanges } from './use-changes.ts';

export function RoadBar() {
  const { t } = useTranslation();
  const search = use(SearchButtonProps);
  const words = (icon: IconName, text: string) => (
    <>
      <Icon name={icon} size={22} />
      {text}
    </>
  );
  return (
    <nav className={`${classes.bar} screen-only`} aria-label={t('road.label')}>
      <Link to="/" className={classes.tab} activeOptions={{ exact: true, includeSearch: false }}>
        {words('home', t('road.today'))}
      </Link>
      <UnstyledButton className={classes.tab} {...search}>
        {words('search', t('road.search'))}
      </UnstyledButton>
      <Link to="/scan" className={classes.tab}>
        {words('qr', t('road.scan'))}
      </Link>
      <Link to="/map" className={classes.tab} activeOptions={{ includeSearch: false }}>
        {words('map', t('road.map'))}
      </Link>
    </nav>
  );
}

/** Shown above every page while the network is away or changes are not sent. */
export function RoadBand() {
  const { t } = useTranslation();
  const { isAway, since } = useSyncExternalStore(subscribeNetwork, networkState);
  const changes = useChanges();
  const open = changes.filter(({ state }) => state !== 'waiting').length;
  const waiting = changes.length - open;
  const parts = [
    isAway && t('road.away', { time: formatTime(new Date(since ?? Date.now()).toISOString()) }),
    waiting > 0 && t('road.waiting', { count: waiting }),
    open > 0 && t('road.unsent', { count: open }),
  ].filter(Boolean);
  return (
    <div role="status" aria-live="polite">
      {parts.length > 0 && (
        <div className={`${classes.band} screen-only`}>
          <Icon name={isAway ? 'broken' : 'refresh'} />
          <Text size="sm">{parts.join(' · ')}</Text>
          {changes.length > 0 && (
            <AnchorLink to="/" size="sm" underline="always">
              {t('road.show')}
            </AnchorLink>
          )}
        </div>
      )}
    </div>
  );
}
