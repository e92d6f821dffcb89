// The parts of a form: identifying fields first, then the rest, then seldom needed ones, folded.
import { Button, Collapse, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Definition, type Field, leavesOf, titleOf, useDefinitions } from '../api/definitions.ts';
import { recordQuery } from '../api/records.ts';
import { Card } from '../frame/card.tsx';
import { tellFailure } from '../frame/notices.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import { isAddress } from '../tables/columns.ts';
import { decimalSeparator } from '../texts/format.ts';
import { FieldInput } from './field-input.tsx';
import classes from './form.module.css';
import { layoutOf } from './form-layout.ts';
import { startValues, toValues, type Values } from './form-values.ts';
import { PositionButton } from './position-button.tsx';

interface FormSectionsProps {
  definition: Definition;
  values: Values;
  errors: ReadonlyMap<string, string>;
  onChange: (path: string, value: unknown) => void;
}

export function FormSections({ definition, values, errors, onChange }: FormSectionsProps) {
  const { t } = useTranslation();
  const { main, groups, lists, rare } = layoutOf(definition);
  // The address stands with the name, where people look for it.
  const address = groups.find(isAddress);
  const leadCount = address ? 2 : main.length;
  const input = (field: Field): ReactNode => (
    <div key={field.path} className={classOf(field)}>
      <FieldInput
        field={field}
        value={values[field.path]}
        onChange={(value) => onChange(field.path, value)}
        error={errors.get(field.path)}
        near={nearOf(values)}
        currency={values.currency}
      />
    </div>
  );
  const grids = (fields: readonly Field[]) => (
    <>
      <div className={classes.grid}>
        {fields.filter((field) => field.kind !== 'flag' && !isWide(field)).map(input)}
      </div>
      <div className={classes.grid}>{fields.filter(({ kind }) => kind === 'flag').map(input)}</div>
      <div className={classes.grid}>{fields.filter(isWide).map(input)}</div>
    </>
  );
  return (
    <>
      <Card title={t('record.details')} icon={resourceIcon(definition.name)}>
        <RequiredOneOf definition={definition} />
        {address ? <div className={classes.lead}>{main.slice(0, leadCount).map(input)}</div> : grids(main)}
        {address && (
          <fieldset className={classes.address}>
            <Group justify="space-between" mih={30} mb={6}>
              <Text component="legend" fw={600} size="sm">
                {titleOf(address)}
              </Text>
              <CustomerAddress definition={definition} group={address} values={values} onChange={onChange} />
            </Group>
            <div className={classes.addressGrid}>{leavesOf(address.fields!).map(input)}</div>
            {address.fields!.some(({ name }) => name === 'location') && (
              <PositionButton path={`${address.path}.location`} values={values} onChange={onChange} />
            )}
          </fieldset>
        )}
      </Card>
      {main.length > leadCount && (
        <Card title={t('form.details')} icon="info">
          {grids(main.slice(leadCount))}
        </Card>
      )}
      {groups
        .filter((group) => group !== address)
        .map((group) => (
          <Card key={group.path} title={titleOf(group)}>
            <div className={classes.grid}>{leavesOf(group.fields!).map(input)}</div>
          </Card>
        ))}
      {lists.map((field) => (
        <Card
          key={field.path}
          title={titleOf(field)}
          icon={field.name === 'openingHours' ? 'clock' : 'calendar'}
        >
          {errors.has(field.path) && (
            <Text c="var(--mantine-color-error)" size="sm" mb="sm" tabIndex={-1} data-invalid role="alert">
              {errors.get(field.path)}
            </Text>
          )}
          {input(field)}
        </Card>
      ))}
      {rare.length > 0 && <Rare isNeeded={isNeeded(definition, rare, values, errors)}>{grids(rare)}</Rare>}
    </>
  );
}

function Rare({ isNeeded: isNeededNow, children }: { isNeeded: boolean; children: ReactNode }) {
  const { t } = useTranslation();
  const [isOpen, setIsOpen] = useState(isNeededNow);
  const isShown = isOpen || isNeededNow;
  return (
    <section>
      {isNeededNow ? (
        <Text component="h2" fw={600} size="sm" px="xs" py={8}>
          {t('form.more')}
        </Text>
      ) : (
        <Button
          variant="subtle"
          px="xs"
          aria-expanded={isOpen}
          leftSection={<Icon name={isOpen ? 'down' : 'right'} size={16} />}
          onClick={() => setIsOpen(!isOpen)}
        >
          {t('form.more')}
        </Button>
      )}
      <Collapse expanded={isShown}>
        <div className={`panel ${classes.rare}`}>{children}</div>
      </Collapse>
    </section>
  );
}

/** A folded field with a value of its own, or with an error, must be seen. */
function isNeeded(
  definition: Definition,
  rare: readonly Field[],
  values: Values,
  errors: ReadonlyMap<string, string>,
): boolean {
  const usual = startValues(definition, decimalSeparator(), {});
  return rare.some(({ path }) => errors.has(path) || (values[path] ?? '') !== (usual[path] ?? ''));
}

/** Copies the address of the chosen customer, position included. */
function CustomerAddress({
  definition,
  group,
  values,
  onChange,
}: Pick<FormSectionsProps, 'definition' | 'values' | 'onChange'> & { group: Field }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const customer = useDefinitions().find(({ name }) => name === 'customer');
  const owner = definition.fields.find(({ reference }) => reference?.resources.includes('customer'));
  const id = owner && values[owner.path];
  if (!owner?.reference?.isOwner || !customer || typeof id !== 'string' || id === '') return null;

  async function take() {
    try {
      const entity = await client.fetchQuery(recordQuery(customer!.collection, String(id)));
      const theirs = toValues(customer!, entity, decimalSeparator());
      for (const { path } of leavesOf(group.fields!)) onChange(path, theirs[path]);
    } catch (error) {
      tellFailure(error);
    }
  }
  return (
    <Button size="compact-sm" variant="subtle" leftSection={<Icon name="copy" size={14} />} onClick={take}>
      {t('form.customerAddress')}
    </Button>
  );
}

function isWide(field: Field): boolean {
  return field.kind === 'list' || ((field.maxLength ?? 0) >= 150 && field.format === undefined);
}

/** Postcode and town stand together, and so do street and house number. */
function classOf(field: Field): string | undefined {
  if (isWide(field)) return classes.wide;
  if (['streetName', 'city'].includes(field.name)) return classes.long;
  return undefined;
}

/** The first choices belong to the chosen customer or site. */
function nearOf(values: Values): Record<string, string | undefined> {
  const idOf = (path: string) => (values[path] ? String(values[path]) : undefined);
  return { customerId: idOf('customerId'), siteId: idOf('siteId') };
}

function RequiredOneOf({ definition }: { definition: Definition }) {
  const { t } = useTranslation();
  return definition.requiredOneOf.map((names) => {
    const titles = names.map((name) => {
      const field = definition.fields.find((candidate) => candidate.name === name);
      return field ? titleOf(field) : name;
    });
    return (
      <Text key={names.join()} size="sm" c="dimmed" mb="sm">
        {t('form.oneOf', { fields: titles.join(', ') })}
      </Text>
    );
  });
}
