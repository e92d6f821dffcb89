// Values for fields that no column brings: one for all rows, entered with the field's own input.
import { ActionIcon, Select, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Definition, type Field, titleOf, valueAt } from '../api/definitions.ts';
import { changeableFieldsOf } from '../bulk/bulk.ts';
import { FieldInput } from '../forms/field-input.tsx';
import { findLocalErrors, startValues, toPatch, type Values } from '../forms/form-values.ts';
import { Icon } from '../icons.tsx';
import { decimalSeparator } from '../texts/format.ts';
import classes from './import.module.css';
import { Section } from './section.tsx';

/** Entered values, by the paths of the fields. */
export type FixedValues = Readonly<Record<string, unknown>>;

function startValueOf(definition: Definition, path: string): unknown {
  return startValues(definition, decimalSeparator(), {})[path];
}

/** Returns the values as lines have them. Numbers are plain: a worker cannot receive exact ones. */
export function toFixed(definition: Definition, entered: FixedValues): Record<string, unknown> {
  const separator = decimalSeparator();
  const before: Values = Object.fromEntries(Object.keys(entered).map((path) => [path, {}]));
  const patch = toPatch(definition, before, entered as Values, separator);
  const values = Object.keys(entered).map((path) => [path, plain(valueAt(patch, path))] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function plain(value: unknown): unknown {
  const isRaw = typeof value === 'object' && value !== null && 'rawJSON' in value;
  return isRaw ? Number((value as { rawJSON: string }).rawJSON) : value;
}

interface FixedValuesCardProps {
  definition: Definition;
  /** Paths of fields that columns bring. */
  taken: ReadonlySet<string>;
  /** Paths of required fields that nothing brings. */
  missing: readonly string[];
  entered: FixedValues;
  onChange: (entered: FixedValues) => void;
}

export function FixedValuesCard({ definition, taken, missing, entered, onChange }: FixedValuesCardProps) {
  const { t } = useTranslation();
  const fields = changeableFieldsOf(definition);
  const errors = findLocalErrors(definition, entered as Values, decimalSeparator());
  const offered = fields.filter(
    ({ path }) => !taken.has(path) && !(path in entered) && !missing.includes(path),
  );
  const shown = [...missing.filter((path) => !(path in entered)), ...Object.keys(entered)]
    .map((path) => fields.find((field) => field.path === path))
    .filter((field): field is Field => field !== undefined)
    .sort((one, other) => fields.indexOf(one) - fields.indexOf(other));
  return (
    <Section title={t('import.fixed.title')} icon="pencil" isNeeded={missing.length > 0}>
      <Text size="sm" c="dimmed" mb="sm">
        {t(missing.length > 0 ? 'import.fixed.textMissing' : 'import.fixed.text')}
      </Text>
      <div className={classes.fixed}>
        {shown.map((field) => {
          const error = errors.get(field.path);
          return (
            <div key={field.path} className={classes.fixedField}>
              <FieldInput
                field={field}
                // A switch would look decided before anybody has chosen.
                value={field.path in entered ? entered[field.path] : field.kind === 'flag' ? undefined : ''}
                onChange={(value) => onChange({ ...entered, [field.path]: value })}
                error={error && t(error)}
              />
              {field.path in entered && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`${t('actions.remove')}: ${titleOf(field)}`}
                  onClick={() => {
                    const { [field.path]: _removed, ...rest } = entered;
                    onChange(rest);
                  }}
                >
                  <Icon name="close" size={16} />
                </ActionIcon>
              )}
            </div>
          );
        })}
        {offered.length > 0 && (
          <Select
            label={t('import.fixed.add')}
            placeholder={t('form.choose')}
            searchable
            nothingFoundMessage={t('form.noResult')}
            data={offered.map((field) => ({ value: field.path, label: titleOf(field) }))}
            value={null}
            onChange={(path) => path && onChange({ ...entered, [path]: startValueOf(definition, path) })}
          />
        )}
      </div>
    </Section>
  );
}
