// A value of a field as people read it.
import { Anchor, Badge, Skeleton, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Field, hintOf, isMoney, labelOf, titleOf, useDefinitions } from '../api/definitions.ts';
import { useNamed } from '../api/named.ts';
import { AnchorLink } from '../frame/links.tsx';
import { Icon } from '../icons.tsx';
import { unitName } from '../inputs/unit-input.tsx';
import { formatDay, formatMoney, formatNumber } from '../texts/format.ts';
import { mailLink, phoneLink } from './contact-links.ts';

interface ValueProps {
  field: Field;
  value: unknown;
  /** The object that it belongs to, which may say in which currency a price is. */
  owner?: Record<string, unknown>;
  /** Set where a click must not dial, write or navigate. */
  isWithoutLinks?: boolean;
}

export function Value({ field, value, owner, isWithoutLinks = false }: ValueProps) {
  const { t } = useTranslation();
  if (value === undefined || value === null || value === '')
    return (
      <Text c="dimmed" span inherit>
        –
      </Text>
    );
  if (field.reference && isWithoutLinks)
    return <NamedText resources={field.reference.resources} id={String(value)} />;
  if (field.reference) return <NamedLink resources={field.reference.resources} id={String(value)} />;
  if (field.kind === 'choice') return <Choice field={field} value={String(value)} />;
  if (field.kind === 'flag') return value ? t('record.yes') : t('record.no');
  if (field.kind === 'list') return Array.isArray(value) ? formatNumber(value.length) : null;
  if (isWithoutLinks) return plainText(field, value, owner);
  if (field.format === 'idn-email')
    return (
      <Anchor href={mailLink(String(value))} inherit>
        {String(value)}
      </Anchor>
    );
  if (field.name === 'phone' || field.name === 'mobile')
    return (
      <Anchor href={phoneLink(String(value))} inherit>
        {String(value)}
      </Anchor>
    );
  return plainText(field, value, owner);
}

export function plainText(field: Field, value: unknown, owner: Record<string, unknown> = {}): string {
  if (value === undefined || value === null) return '';
  if (field.kind === 'choice') {
    const choice = field.choices?.find((candidate) => candidate.value === value);
    return choice ? titleOf(choice) : String(value);
  }
  if (field.kind === 'date') return formatDay(String(value));
  if (isMoney(field) && typeof value === 'number') return formatMoney(value, owner.currency);
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value === 'object') return JSON.stringify(value);
  if (field.format === 'unit-code') return unitName(String(value)) ?? String(value);
  return String(value);
}

const moods: Record<string, string> = {
  ACTIVE: 'leaf',
  HEALTHY: 'leaf',
  NEEDS_ATTENTION: 'yellow',
  DRAFT: 'yellow',
  CRITICAL: 'red',
  TERMINATED: 'red',
};

function Choice({ field, value }: { field: Field; value: string }) {
  const text = plainText(field, value);
  if (field.name !== 'status') return text;
  return <Badge color={moods[value] ?? 'gray'}>{text}</Badge>;
}

export function StatusBadge({
  fields,
  entity,
}: {
  fields: readonly Field[];
  entity: Record<string, unknown>;
}) {
  const { t } = useTranslation();
  const status = fields.find(({ name, kind }) => name === 'status' && kind === 'choice');
  if (status && entity.status) return <Choice field={status} value={String(entity.status)} />;
  const active = fields.find(({ name, kind }) => name === 'active' && kind === 'flag');
  if (active && entity.active === false)
    return <Badge color="gray">{`${titleOf(active)}: ${t('record.no')}`}</Badge>;
  return null;
}

/** The object that an id names, as a link to its page. */
export function NamedLink({
  resources,
  id,
  tabIndex,
}: {
  resources: readonly string[];
  id: string;
  tabIndex?: number;
}) {
  const { t } = useTranslation();
  const { data: named, isPending, isError } = useNamed(resources, id, true);
  const first = useDefinitions().find(({ name }) => name === resources[0]);
  // Without network nobody knows whether the record is missing.
  if (isError && !named && first)
    return (
      <AnchorLink to={`/data/${first.collection}/${id}`} inherit tabIndex={tabIndex}>
        {titleOf(first)}
      </AnchorLink>
    );
  if (isPending) return <Skeleton height={12} width={110} display="inline-block" />;
  if (!named)
    return (
      <Text span inherit c="var(--mantine-color-error)" title={id}>
        <Icon name="broken" size={14} /> {t('record.notThereShort')}
      </Text>
    );
  const { definition, entity, isDeleted } = named;
  return (
    <AnchorLink
      to={`/data/${definition.collection}/${entity.id}`}
      inherit
      tabIndex={tabIndex}
      title={hintOf(definition, entity) || undefined}
    >
      {labelOf(definition, entity)}
      {isDeleted && ` (${t('bin.deletedMark')})`}
    </AnchorLink>
  );
}

/** The name alone, where the line around it is a link already. */
export function NamedText({ resources, id }: { resources: readonly string[]; id: string }) {
  const { data: named, isPending } = useNamed(resources, id);
  if (named) return labelOf(named.definition, named.entity);
  return isPending ? '…' : '–';
}
