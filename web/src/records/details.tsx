// The values that an object has; missing ones are not worth a line each.
import { ActionIcon, Button, CopyButton, Menu, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazyRouteComponent } from '@tanstack/react-router';
import { type MouseEvent, type ReactNode, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Definition, type Entity, type Field, labelOf, titleOf, valueAt } from '../api/definitions.ts';
import { useMayEdit } from '../api/session.ts';
import { forCare } from '../forms/form-layout.ts';
import { Card } from '../frame/card.tsx';
import { AnchorLink } from '../frame/links.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import { approximatePositionQuery, type Address as PostalAddress } from '../map/approximate-position.ts';
import { addressText, isAddress } from '../tables/columns.ts';
import { formatNumber } from '../texts/format.ts';
import classes from './record.module.css';
import { Value } from './value.tsx';

const FieldEditor = lazyRouteComponent(() => import('../forms/field-editor.tsx'), 'FieldEditor');

interface DetailsProps {
  definition: Definition;
  entity: Entity;
  /** Set for deleted records, and for people who cannot edit. */
  isReadOnly?: boolean;
}

export function Details({ definition, entity, isReadOnly = false }: DetailsProps) {
  const { t } = useTranslation();
  const mayEdit = useMayEdit();
  const changeable = mayEdit ? definition : forCare(definition);
  const canEdit = (field: Field) => !isReadOnly && changeable.fields.includes(field) && !field.twinOf;
  const shown = definition.fields.filter((field) => isWorthALine(definition, field, entity, canEdit(field)));
  const empty = definition.fields.filter((field) => canEdit(field) && isEmpty(field, entity));
  const [added, setAdded] = useState<string>();
  const addedField = empty.find(({ path }) => path === added);
  return (
    <Card title={t('record.details')} icon={resourceIcon(definition.name)}>
      <dl className={classes.details}>
        {shown.map((field) => (
          <Line
            key={field.path}
            definition={changeable}
            field={field}
            entity={entity}
            canEdit={canEdit(field)}
          />
        ))}
        {addedField && (
          <Editor
            key={addedField.path}
            definition={changeable}
            field={addedField}
            entity={entity}
            onDone={() => setAdded(undefined)}
          />
        )}
        <div>
          <dt>{t('record.id')}</dt>
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
      {empty.length > 0 && !addedField && <EmptyFields fields={empty} onChoose={setAdded} />}
    </Card>
  );
}

/** Fields without a value have no line, but can get a value here. */
function EmptyFields({ fields, onChoose }: { fields: Field[]; onChoose: (path: string) => void }) {
  const { t } = useTranslation();
  return (
    <Menu position="bottom-start" shadow="md">
      <Menu.Target>
        <Button
          className={`${classes.add} screen-only`}
          size="compact-sm"
          variant="subtle"
          leftSection={<Icon name="plus" size={14} />}
          onPointerEnter={() => FieldEditor.preload?.()}
        >
          {t('record.addField')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah="50vh" style={{ overflowY: 'auto' }}>
        {fields.map((field) => (
          <Menu.Item key={field.path} onClick={() => onChoose(field.path)}>
            {titleOf(field)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

interface EditorProps {
  definition: Definition;
  field: Field;
  entity: Entity;
  onDone: () => void;
  fallback?: ReactNode;
}

function Editor({ fallback = null, ...editor }: EditorProps) {
  return (
    <div className={classes.wide}>
      {/* The inputs have their own labels. */}
      <VisuallyHidden component="dt">{titleOf(editor.field)}</VisuallyHidden>
      <dd>
        <Suspense fallback={fallback}>
          <FieldEditor {...editor} />
        </Suspense>
      </dd>
    </div>
  );
}

interface LineProps {
  definition: Definition;
  field: Field;
  entity: Entity;
  canEdit: boolean;
}

function Line({ definition, field, entity, canEdit }: LineProps) {
  const { t } = useTranslation();
  const [isEditing, setIsEditing] = useState(false);
  const title = titleOf(field);
  const value = isAddress(field) ? (
    <Address value={entity[field.name]} isOnMap={definition.name === 'site'} />
  ) : (
    <Single field={field} entity={entity} />
  );
  const isWide = (field.maxLength ?? 0) >= 150 && !field.format;
  if (isEditing) {
    return <Editor {...{ definition, field, entity }} fallback={value} onDone={() => setIsEditing(false)} />;
  }
  return (
    <div className={isWide ? classes.wide : undefined}>
      <dt>{title}</dt>
      <dd className={canEdit ? classes.editable : undefined}>
        {canEdit ? (
          // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the button does the same.
          <div onClick={(event) => isPlainClick(event) && setIsEditing(true)}>{value}</div>
        ) : (
          value
        )}
        {canEdit && (
          <ActionIcon
            className={classes.pencil}
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={t('record.editField', { title })}
            title={t('actions.edit')}
            onPointerEnter={() => FieldEditor.preload?.()}
            onClick={() => setIsEditing(true)}
          >
            <Icon name="pencil" size={14} />
          </ActionIcon>
        )}
      </dd>
    </div>
  );
}

/** Links stay links, and a selected text can be copied. */
function isPlainClick({ target }: MouseEvent): boolean {
  return !(target as HTMLElement).closest('a, button') && window.getSelection()?.isCollapsed !== false;
}

/** The page's head says the name and the status already. The status has a line where it can be changed. */
function isWorthALine(definition: Definition, field: Field, entity: Entity, canEdit: boolean): boolean {
  const value = valueAt(entity, field.path);
  const isStatus = field.name === 'status' && field.kind === 'choice';
  const isInHead = value === labelOf(definition, entity) || (isStatus && !canEdit);
  return field.kind !== 'list' && value !== undefined && value !== '' && !isInHead;
}

/** Lists have cards of their own. */
function isEmpty({ kind, path }: Field, entity: Entity): boolean {
  const value = valueAt(entity, path);
  return kind !== 'list' && (value === undefined || value === '');
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

/** Approximate position of a site without an exact one. */
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
