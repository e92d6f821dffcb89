// An entry: the record, its owner, and its problem.
import { Badge, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { AttentionCode } from '../../../core/definition/codes.ts';
import { type Definition, labelOf, leavesOf, titleOf, useDefinitions, valueAt } from '../api/definitions.ts';
import { useNamed } from '../api/named.ts';
import type { AttentionEntry } from '../api/records.ts';
import { useMayEdit } from '../api/session.ts';
import { AnchorLink } from '../frame/links.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import { NamedLink } from '../records/value.tsx';
import { formatNumber } from '../texts/format.ts';
import classes from './attention.module.css';

type Named = Pick<AttentionEntry, 'resource' | 'id' | 'field' | 'code' | 'duplicateIds'>;

export function useEntryName({ resource, id }: Named): string {
  const { data: named } = useNamed([resource], id);
  return named ? labelOf(named.definition, named.entity) : '…';
}

export function EntryWords({ entry, children }: { entry: Named; children?: ReactNode }) {
  const { t } = useTranslation();
  const mayEdit = useMayEdit();
  const definition = useDefinitions().find(({ name }) => name === entry.resource);
  const { data: named } = useNamed([entry.resource], entry.id);
  const name = useEntryName(entry);
  if (!definition) return null;
  const code = entry.code as AttentionCode;
  const owner = definition.fields.find(({ reference }) => reference?.isOwner);
  const ownerId = owner && named?.entity[owner.name];
  return (
    <Group gap="md" wrap="nowrap" align="flex-start" className={classes.words}>
      <span className={classes.icon}>
        <Icon name={resourceIcon(entry.resource)} />
      </span>
      <Stack gap={4} className={classes.words}>
        <Group gap="xs">
          <AnchorLink to={`/data/${definition.collection}/${entry.id}`} fw={550} c="var(--stamm-ink)">
            {name}
          </AnchorLink>
          {owner?.reference && ownerId !== undefined && (
            <Text size="sm" c="dimmed" component="span">
              <NamedLink resources={owner.reference.resources} id={String(ownerId)} />
            </Text>
          )}
          <Badge color="yellow">{t(`attention.codes.${code}`)}</Badge>
        </Group>
        {children ?? (
          <Text size="sm" c="dimmed">
            {t(`attention.explain.${code}`, {
              field: fieldTitle(definition, entry.field),
              externalId: named ? valueAt(named.entity, entry.field) : '…',
              number: formatNumber((entry.duplicateIds?.length ?? 0) + 1),
            })}
            {mayEdit && ` ${t(`attention.advice.${code}`)}`}
          </Text>
        )}
      </Stack>
    </Group>
  );
}

function fieldTitle(definition: Definition, path: string): string {
  const field = [...definition.fields, ...leavesOf(definition.fields)].find(
    (candidate) => candidate.path === path,
  );
  return field ? titleOf(field) : path;
}
