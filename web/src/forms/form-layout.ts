// Orders the fields of a form, and folds those that offices seldom need.
import type { Definition, Field } from '../api/definitions.ts';

const firstFields: Record<string, readonly string[]> = {
  customer: ['companyName', 'customerNumber', 'phone', 'email'],
  site: ['name', 'customerId'],
  plant: ['siteId', 'botanicalName', 'productId', 'commonName', 'quantity', 'status'],
  'contact-person': ['customerId', 'firstName', 'lastName', 'role', 'phone', 'mobile', 'email'],
  contract: ['customerId', 'type', 'startDate', 'endDate', 'netPrice', 'billingInterval', 'status'],
};

const rareFields: Record<string, readonly string[]> = {
  customer: ['vatId', 'status'],
  site: [
    'serviceRecordRecipientId',
    'callOutFee',
    'appointmentPreparationTimeInMinutes',
    'validFrom',
    'validUntil',
    'timeZone',
  ],
  plant: ['containerId', 'heightInCm', 'plantedOn', 'removedOn', 'ownership'],
  container: [
    'lengthInCm',
    'widthInCm',
    'heightInCm',
    'diameterInCm',
    'volumeInLitres',
    'hasWaterLevelIndicator',
    'ownership',
  ],
  'contact-person': ['salutation', 'language'],
  contract: ['noticePeriodInMonths'],
  product: ['gtin', 'unitCode', 'currency', 'description'],
};

export interface FormLayout {
  /** Fields other than groups, lists and rare ones. */
  main: Field[];
  groups: Field[];
  lists: Field[];
  rare: Field[];
}

export function layoutOf({ name, fields }: Definition): FormLayout {
  const first = firstFields[name] ?? [];
  const rare = [...(rareFields[name] ?? []), 'externalId'];
  const shown = fields.filter((field) => !field.twinOf);
  const plain = shown.filter((field) => !field.fields && field.kind !== 'list');
  const place = (field: Field) => (first.includes(field.name) ? first.indexOf(field.name) : first.length);
  const isRare = (field: Field) => rare.includes(field.name) && !field.isRequired;
  return {
    main: plain.filter((field) => !isRare(field)).toSorted((one, other) => place(one) - place(other)),
    groups: shown.filter((field) => field.fields),
    lists: shown.filter(({ kind }) => kind === 'list'),
    rare: plain.filter(isRare),
  };
}

/** Leaves out lists, rare fields and the position: a record that is created on the way does not need them. */
export function shortForm(definition: Definition): Definition {
  const { main, groups } = layoutOf(definition);
  const short = groups.map((group) => ({ ...group, fields: group.fields!.filter(({ fields }) => !fields) }));
  return { ...definition, fields: [...main, ...short] };
}

/** The part of a definition that the role Pflege may change. */
export function forCare(definition: Definition): Definition {
  const fields = definition.fields.filter(({ name }) => definition.careFields.includes(name));
  return { ...definition, fields, requiredOneOf: [] };
}
