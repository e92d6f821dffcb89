// The sites of the map as a list, for the keyboard and for screen readers.
import { Text } from '@mantine/core';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { MapCluster } from '../../../core/place/map-cluster.ts';
import { AnchorLink } from '../frame/links.tsx';
import { Icon } from '../icons.tsx';
import { formatNumber } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import { nearestCity } from './cities.ts';
import classes from './map.module.css';

const shownEntries = 100;

interface SeenListProps {
  clusters: readonly MapCluster[];
  isEmpty: boolean;
  onOpen: (cluster: MapCluster) => void;
}

/** `memo` keeps the list from rendering with each step that the map moves. */
export const SeenList = memo(function SeenList({ clusters, isEmpty, onOpen }: SeenListProps) {
  const { t } = useTranslation();
  const count = clusters.reduce((sum, cluster) => sum + cluster.count, 0);
  return (
    <section className={`panel ${classes.seen}`} aria-labelledby="seen-title">
      <h2 id="seen-title" className={classes.seenTitle}>
        {t('map.seen')}
      </h2>
      <Text size="sm" c="dimmed" role="status">
        {t('map.count', { count, formatted: formatNumber(count) })}
      </Text>
      {clusters.length === 0 && !isEmpty && (
        <Text size="sm" mt="sm">
          {t('map.seenNone')}
        </Text>
      )}
      <ul className={classes.list}>
        {clusters.slice(0, shownEntries).map((cluster) => (
          <li key={cluster.id ?? `${cluster.lat} ${cluster.lng}`}>
            <Entry cluster={cluster} onOpen={onOpen} />
          </li>
        ))}
      </ul>
      {clusters.length > shownEntries && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('map.more', { formatted: formatNumber(clusters.length - shownEntries) })}
        </Text>
      )}
      <AnchorLink to="/attention" search={{ code: 'no_position' }} size="sm" mt="md" display="inline-block">
        {t('map.missing')}
      </AnchorLink>
    </section>
  );
});

function Entry({ cluster, onOpen }: { cluster: MapCluster; onOpen: (cluster: MapCluster) => void }) {
  const { t } = useTranslation();
  const city = nearestCity(cluster)?.name[currentLanguage()];
  const approximate =
    cluster.approximate &&
    (cluster.approximate === cluster.count
      ? t('map.approximate')
      : t('map.ofThemApproximate', { formatted: formatNumber(cluster.approximate) }));
  const near = [city && t('map.near', { city }), approximate].filter(Boolean).join(', ');
  if (cluster.id)
    return (
      <AnchorLink to={`/data/sites/${cluster.id}`} className={classes.entry} c="var(--stamm-ink)">
        <Icon name="site" />
        <span>
          {cluster.name}
          {near && <small>{near}</small>}
        </span>
      </AnchorLink>
    );
  return (
    <button type="button" className={classes.entry} onClick={() => onOpen(cluster)}>
      <Icon name={cluster.sites || cluster.zipCode ? 'site' : 'search'} />
      <span>
        {t('map.count', { count: cluster.count, formatted: formatNumber(cluster.count) })}
        {near && <small>{near}</small>}
      </span>
    </button>
  );
}
