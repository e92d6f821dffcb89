// The values of an object, those that are there; what is missing is not worth a line each.
import { CopyButton, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { type Definition, type Entity, type Field, labelOf, titleOf, valueAt } from '../api/definitions.ts';
import { AnchorLink } from '../frame/links.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import { approximatePositionQuery, type Address as PostalAddress } from '../map/approximate-position.ts';
import { formatNumber } from '../texts/format.ts';
import { Card } from './card.tsx';
import { addressText, isAddress } from './columns.ts';
import classes from './record.module.css';
import { Value } from './value.tsx';

export function Details({ definition, entity }: { definition: Definition; entity: Entity }) {
  const { t } = useTranslation();
  const shown = definition.fields.filter((field) => isWorthALine(definition, field, entity));
  return (
    <Card title={t('record.details')} icon={resourceIcon(definition.name)}>
      <dl className={classes.details}>
        {shown.map((field) => (
          <div
            key={field.path}
            className={(field.maxLength ?? 0) >= 150 && !field.format ? classes.wide : undefined}
          >
            <dt>{titleOf(field)}</dt>
            <dd>
              {isAddress(field) ? (
                <Address value={entity[field.name]} isOnMap={definition.name === 'site'} />
              ) : (
                <Single field={field} entity={entity} />
              )}
            </dd>
          </div>
        ))}
        <div>
          <dt>Id</dt>
          <dd>
            <CopyButton value={entity.id}>
              {({ copied, copy }) => (
                <UnstyledButton onClick={copy} fz="sm" c="dimmed" title={entity.id}>
                  …{entity.id.slice(-8)} <Icon name={copied ? 'check' : 'copy'} size={14} />
                  <VisuallyHidden>{t('actions.copy')}</VisuallyHidden>
                </UnstyledButton>
              )}
            </CopyButton>
          </dd>
        </div>
      </dl>
    </Card>
  );
}

/** The page's head says the name and the status already. */
function isWorthALine(definition: Definition, field: Field, entity: Entity): boolean {
  const value = valueAt(entity, field.path);
  const isInHead =
    value === labelOf(definition, entity) || (field.name === 'status' && field.kind === 'choice');
  return field.kind !== 'list' && value !== undefined && value !== '' && !isInHead;
}

function Single({ field, entity }: { field: Field; entity: Entity }) {
  if (field.fields) {
    return field.fields.map((member) => (
      <div key={member.path}>
        {titleOf(member)}: <Value field={member} value={valueAt(entity, member.path)} owner={entity} />
      </div>
    ));
  }
  return <Value field={field} value={entity[field.name]} owner={entity} />;
}

interface AddressValue extends PostalAddress {
  location?: { lat?: number; lng?: number };
}

function Address({ value, isOnMap }: { value: unknown; isOnMap: boolean }) {
  const address = value as AddressValue;
  const { location } = address;
  const hasPosition = location?.lat !== undefined && location.lng !== undefined;
  return (
    <>
      {addressText(value)
        .split(', ')
        .map((line) => (
          <div key={line}>{line}</div>
        ))}
      {hasPosition ? (
        <MapLink position={{ lat: location.lat!, lng: location.lng! }} />
      ) : (
        isOnMap &&
        location?.lat === undefined &&
        location?.lng === undefined && <Approximate address={address} />
      )}
    </>
  );
}

const mapZoom = '14';

function MapLink({ position: { lat, lng } }: { position: { lat: number; lng: number } }) {
  const degrees = (value: number) => formatNumber(value, { maximumFractionDigits: 5 });
  return (
    <AnchorLink
      to="/map"
      search={{ lat: String(lat), lng: String(lng), zoom: mapZoom }}
      className="numbers"
      size="sm"
    >
      {degrees(lat)}, {degrees(lng)}
    </AnchorLink>
  );
}

/** Where the site lies on the map while nobody has said it exactly. */
function Approximate({ address }: { address: PostalAddress }) {
  const { t } = useTranslation();
  const { data: position } = useQuery(approximatePositionQuery(address));
  if (position === undefined) return null;
  if (position === null) return <div className={classes.none}>{t('record.noPosition')}</div>;
  return (
    <div>
      <MapLink position={position} />{' '}
      <span className={classes.none}>
        {t(position.source === 'postcode' ? 'record.approximateByPostcode' : 'record.approximateByTown')}
      </span>
    </div>
  );
}
