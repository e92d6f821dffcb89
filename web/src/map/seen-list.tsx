// The sites of the map as a list, for the keyboard and for screen readers.
import { Text } from '@mantine/core';
import { type CSSProperties, memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { MapCluster } from '../../../core/place/map-cluster.ts';
import { AnchorLink } from '../frame/links.tsx';
import { Icon } from '../icons.tsx';
import { formatNumber } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import { nearestCity } from './cities.ts';
import classes from './map.module.css';
import type { People } from './people.ts';

const shownEntries = 100;

interface SeenListProps {
  clusters: readonly MapCluster[];
  people: People;
  isEmpty: boolean;
  onOpen: (cluster: MapCluster) => void;
}

/** `memo` keeps the list from rendering with each step that the map moves. */
export const SeenList = memo(function SeenList({ clusters, people, isEmpty, onOpen }: SeenListProps) {
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
      <Legend clusters={clusters} people={people} />
      <ul className={classes.list}>
        {clusters.slice(0, shownEntries).map((cluster) => (
          <li key={cluster.id ?? `${cluster.lat} ${cluster.lng}`}>
            <Entry cluster={cluster} people={people} onOpen={onOpen} />
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

/** Colours alone tell nobody anything: their names are here, and at each entry. */
function Legend({ clusters, people }: Pick<SeenListProps, 'clusters' | 'people'>) {
  const { t } = useTranslation();
  const seen = new Set(clusters.map(({ employeeId }) => employeeId));
  const shown = [...people.names].filter(([id]) => seen.has(id));
  if (shown.length === 0) return null;
  return (
    <ul className={classes.legend} aria-label={t('map.employees')}>
      {shown.map(([id, name]) => (
        <li key={id} style={{ '--dot': `var(${people.colourNames.get(id)})` } as CSSProperties}>
          {name}
        </li>
      ))}
      <li style={{ '--dot': 'var(--map-leaf)' } as CSSProperties}>{t('map.severalOrNobody')}</li>
    </ul>
  );
}

interface EntryProps extends Pick<SeenListProps, 'people' | 'onOpen'> {
  cluster: MapCluster;
}

function Entry({ cluster, people, onOpen }: EntryProps) {
  const { t } = useTranslation();
  const city = nearestCity(cluster)?.name[currentLanguage()];
  const approximate =
    cluster.approximate &&
    (cluster.approximate === cluster.count
      ? t('map.approximate')
      : t('map.ofThemApproximate', { formatted: formatNumber(cluster.approximate) }));
  const employee = cluster.employeeId && people.names.get(cluster.employeeId);
  const near = [city && t('map.near', { city }), approximate, employee].filter(Boolean).join(', ');
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
