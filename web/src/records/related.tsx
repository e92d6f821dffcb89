// Objects that belong to an object: every resource that names it, as its definition says.
import { Badge } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import i18next from 'i18next';
import { Fragment } from 'react';
import { useTranslation } from 'react-i18next';
import {
  type Definition,
  type Entity,
  type Field,
  hintOf,
  labelOf,
  pluralOf,
  titleOf,
  useDefinitions,
} from '../api/definitions.ts';
import { fewQuery } from '../api/records.ts';
import { useMayEdit } from '../api/session.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import { formatNumber } from '../texts/format.ts';
import classes from './record.module.css';
import { plainText, Value } from './value.tsx';

const shownItems = 8;

interface RelatedProps {
  definition: Definition;
  id: string;
  /** The name of a resource that the page shows elsewhere. */
  without?: string;
}

export function Related({ definition, id, without }: RelatedProps) {
  const others = useDefinitions().filter(({ name }) => name !== without);
  return others.flatMap((other) =>
    other.fields
      .filter((field) => field.reference?.resources.includes(definition.name))
      .map((field) => (
        <RelatedList key={`${other.name} ${field.name}`} definition={other} field={field} id={id} />
      )),
  );
}

function RelatedList({ definition, field, id }: { definition: Definition; field: Field; id: string }) {
  const { t } = useTranslation();
  const mayEdit = useMayEdit();
  const parameters = { [field.name]: id, sort: 'name' };
  const { data, error, refetch } = useQuery(fewQuery(definition.collection, parameters, shownItems));
  const isOwned = field.reference?.isOwner ?? false;
  // Only dependants are worth an empty place: anything else seldom names this object.
  if (!isOwned && (!data || data.data.length === 0)) return null;
  const total = data?.total ?? 0;
  const search = { [field.name]: id };
  return (
    <Card
      icon={resourceIcon(definition.name)}
      title={
        <>
          {headingOf(definition, field)}{' '}
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
          {isOwned && mayEdit && (
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
                <span>
                  <Facts definition={definition} entity={entity} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {total > shownItems && (
        <p className="paper-only">
          {t('print.rows', { shown: formatNumber(shownItems), total: formatNumber(total) })}
        </p>
      )}
    </Card>
  );
}

const headings = [
  'site.assignedEmployeeId',
  'site.contactPersonId',
  'site.contractId',
  'site.serviceRecordRecipientId',
  'plant.containerId',
  'plant.productId',
  'container.productId',
] as const;

function headingOf(definition: Definition, field: Field): string {
  if (field.reference?.isOwner) return pluralOf(definition);
  const known = headings.find((heading) => heading === `${definition.name}.${field.name}`);
  return known ? i18next.t(`related.${known}`) : `${pluralOf(definition)}: ${titleOf(field)}`;
}

/** The columns that an office wants to see without opening a record. */
const facts: Record<string, readonly string[]> = {
  plant: ['labelCode', 'room', 'status'],
  contract: ['type', 'netPrice', 'status'],
  'contact-person': ['role', 'phone', 'mobile'],
  container: ['labelCode', 'cultureSystem'],
};

function Facts({ definition, entity }: { definition: Definition; entity: Entity }) {
  const names = facts[definition.name];
  if (!names) return hintOf(definition, entity);
  const label = labelOf(definition, entity);
  const isSaid = (field: Field) => label.startsWith(plainText(field, entity[field.name], entity));
  return definition.fields
    .filter((field) => names.includes(field.name) && entity[field.name] !== undefined && !isSaid(field))
    .toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name))
    .slice(0, 3)
    .map((field, index) => (
      <Fragment key={field.path}>
        {index > 0 && ' · '}
        {field.name === 'status' ? (
          <Value field={field} value={entity[field.name]} />
        ) : (
          <span className={classes.fact}>{plainText(field, entity[field.name], entity)}</span>
        )}
      </Fragment>
    ));
}
