// What belongs to an object: every resource that names it, as its definition says.
import { Badge } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import {
  type Definition,
  type Field,
  hintOf,
  labelOf,
  pluralOf,
  titleOf,
  useDefinitions,
} from '../api/definitions.ts';
import { fewQuery } from '../api/records.ts';
import { useIsAdministrator } from '../api/session.ts';
import { FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import { formatNumber } from '../texts/format.ts';
import { Card } from './card.tsx';
import classes from './record.module.css';

const shownItems = 8;

export function Related({ definition, id }: { definition: Definition; id: string }) {
  return useDefinitions().flatMap((other) =>
    other.fields
      .filter((field) => field.reference?.resources.includes(definition.name))
      .map((field) => (
        <RelatedList key={`${other.name} ${field.name}`} definition={other} field={field} id={id} />
      )),
  );
}

function RelatedList({ definition, field, id }: { definition: Definition; field: Field; id: string }) {
  const { t } = useTranslation();
  const isAdministrator = useIsAdministrator();
  const parameters = { [field.name]: id, sort: 'name' };
  const { data, error, refetch } = useQuery(fewQuery(definition.collection, parameters, shownItems));
  const isOwned = field.reference?.isOwner ?? false;
  // Only what is owned is worth an empty place: anything else names this object seldom.
  if (!isOwned && (!data || data.data.length === 0)) return null;
  const total = data?.total ?? 0;
  const search = { [field.name]: id };
  return (
    <Card
      icon={resourceIcon(definition.name)}
      title={
        <>
          {isOwned ? pluralOf(definition) : `${pluralOf(definition)}: ${titleOf(field)}`}{' '}
          {total > 0 && (
            <Badge color="gray" ml={4}>
              {formatNumber(total)}
            </Badge>
          )}
        </>
      }
      actions={
        <>
          {total > shownItems && (
            <ButtonLink
              size="compact-sm"
              variant="subtle"
              to={`/data/${definition.collection}`}
              search={search}
            >
              {t('actions.all')}
            </ButtonLink>
          )}
          {isOwned && isAdministrator && (
            <ButtonLink
              size="compact-sm"
              variant="subtle"
              leftSection={<Icon name="plus" size={14} />}
              to={`/data/${definition.collection}/new`}
              search={search}
              aria-label={`${t('record.newHere')}: ${titleOf(definition)}`}
            >
              {t('record.newHere')}
            </ButtonLink>
          )}
        </>
      }
    >
      {error ? (
        <FailureNote error={error} onRetry={() => refetch()} />
      ) : !data ? (
        <Lines />
      ) : data.data.length === 0 ? (
        <p className={classes.none}>{t('record.noneHere')}</p>
      ) : (
        <ul className={classes.list}>
          {data.data.map((entity) => (
            <li key={entity.id}>
              <Link
                to="/data/$collection/$id"
                params={{ collection: definition.collection, id: entity.id }}
                className={classes.item}
              >
                <span>{labelOf(definition, entity)}</span>
                <span>{hintOf(definition, entity)}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
