// Which field a column of a file fills, guessed from its title: German or English, the field's name, or its whole path.
import type { Definition, Field, Titles } from '../api/definition.ts';

export interface ImportColumn {
  /** "address.city" */
  path: string;
  field: Field;
  titles: Titles;
}

/** The last column of a report: what is wrong with the row. The next import ignores it. */
export const faultTitles: Titles = { en: 'Error', de: 'Fehler' };

/** All columns of a resource; what names an owner by its external id stands beside what names it by its id. */
export function columnsOf(definition: Definition): ImportColumn[] {
  return leafColumns(definition.fields, { de: [], en: [] }).flatMap((column) => {
    const { field, path, titles } = column;
    if (!field.reference) return [column];
    // In German the title of a reference names the thing itself, and here an id is wanted.
    const byId = { ...column, titles: { ...titles, de: `${titles.de} Id` } };
    if (!field.reference.isOwner) return [byId];
    const byExternalId: ImportColumn = {
      path: externalName(path),
      field: {
        name: externalName(path),
        path: externalName(path),
        kind: 'text',
        isRequired: false,
        title: titles,
        description: '',
      },
      titles: { de: `${titles.de} externe Id`, en: titles.en.replace(/ id$/, ' external id') },
    };
    return [byId, byExternalId];
  });
}

/** customerId is customerExternalId. */
function externalName(path: string): string {
  return path.replace(/Id$/, 'ExternalId');
}

function leafColumns(fields: readonly Field[], parents: Record<'de' | 'en', string[]>): ImportColumn[] {
  return fields.flatMap((field) => {
    const de = [...parents.de, field.title.de];
    const en = [...parents.en, field.title.en];
    if (field.fields) return leafColumns(field.fields, { de, en });
    const english = en.map((title, index) => (index === 0 ? title : title.toLowerCase()));
    return [{ path: field.path, field, titles: { de: de.join(' '), en: english.join(' ') } }];
  });
}

const umlauts: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' };

/** "Address city", "address.city" and "ADRESSE_ORT" are compared without case and without what separates words. */
function fold(title: string): string {
  return title
    .normalize('NFC')
    .toLowerCase()
    .replace(/[äöüß]/g, (letter) => umlauts[letter]!)
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** What spreadsheets of offices say for the name of a field. A guess: the person sees it and can choose another. */
const habits: Record<string, string[]> = {
  companyName: ['Firmenname', 'Kunde', 'Kundenname', 'Unternehmen', 'Company', 'Customer'],
  customerNumber: ['Kundennr', 'Kd-Nr', 'KdNr', 'Kunden-Nr.', 'Customer no'],
  email: ['Mail', 'E-Mail-Adresse', 'Email address'],
  phone: ['Tel', 'Tel.', 'Telefonnummer', 'Telefon-Nr.', 'Phone number', 'Telephone'],
  mobile: ['Handy', 'Mobil', 'Mobiltelefon'],
  vatId: ['USt-Id', 'UStId', 'Umsatzsteuer-Id', 'VAT number'],
  comment: ['Kommentar', 'Notiz', 'Notizen', 'Bemerkungen', 'Note', 'Notes', 'Remark'],
  name: ['Bezeichnung', 'Standort', 'Standortname', 'Site', 'Site name'],
  firstName: ['Given name'],
  lastName: ['Name', 'Surname', 'Familienname'],
  'address.streetName': ['Str', 'Str.', 'Strasse', 'Street'],
  'address.houseNumber': ['Hausnr', 'Hausnr.', 'Haus-Nr.', 'Nr', 'Nr.', 'House no', 'No'],
  'address.zipCode': ['Postleitzahl', 'Zip', 'Postcode', 'Postal code'],
  'address.city': ['Stadt', 'Town'],
  'address.location.lat': ['Latitude', 'Breite'],
  'address.location.lng': ['Longitude', 'Länge', 'Lon', 'Long'],
};

/** The column of each title; titles that mean nothing here, or the same as one before, have none. */
export function matchTitles(definition: Definition, titles: readonly string[]): (ImportColumn | undefined)[] {
  const known = knownTitles(definition);
  const used = new Set<ImportColumn>();
  return titles.map((title) => {
    const column = known.get(fold(title));
    if (!column || used.has(column)) return undefined;
    used.add(column);
    return column;
  });
}

function knownTitles(definition: Definition): Map<string, ImportColumn> {
  const columns = columnsOf(definition);
  const known = new Map<string, ImportColumn>();
  const add = (column: ImportColumn, forms: readonly string[]) => {
    for (const form of forms.map(fold)) if (!known.has(form)) known.set(form, column);
  };
  for (const column of columns) {
    const { path, field, titles } = column;
    // An export calls a reference by its plain title.
    add(column, [path, titles.de, titles.en, ...(field.reference ? [field.title.de] : [])]);
  }
  // A member goes by its own name too, where nothing else does.
  for (const column of columns.filter(({ path }) => path.includes('.'))) {
    add(column, [column.field.name, column.field.title.de]);
  }
  for (const column of columns) add(column, habits[column.path] ?? []);
  return known;
}

/** The resource that most titles belong to, of those whose required columns are there if there are such. */
export function guessDefinition(
  definitions: readonly Definition[],
  titles: readonly string[],
): Definition | undefined {
  const candidates = definitions
    .map((definition) => {
      const columns = matchTitles(definition, titles);
      return {
        definition,
        count: columns.filter(Boolean).length,
        isComplete: missingColumns(definition, columns).length === 0,
      };
    })
    .filter(({ count }) => count > 0)
    .sort((one, other) => Number(other.isComplete) - Number(one.isComplete) || other.count - one.count);
  return candidates[0]?.definition;
}

/** What every row needs and no column of the file brings; any one of the columns of an entry would do. */
export function missingColumns(
  definition: Definition,
  chosen: readonly (ImportColumn | undefined)[],
): ImportColumn[][] {
  const paths = new Set(chosen.map((column) => column?.path));
  const columns = columnsOf(definition);
  const byPath = (path: string) => columns.filter((column) => column.path === path);
  const needed = columns
    // What belongs to an optional group is required only within it, and what may be empty is empty.
    .filter(
      ({ field, path }) => field.isRequired && !field.isBlankAllowed && !isInOptionalGroup(definition, path),
    )
    .map(({ path, field }) => [
      ...byPath(path),
      ...(field.reference?.isOwner ? byPath(externalName(path)) : []),
    ]);
  const oneOf = definition.requiredOneOf.map((names) => names.flatMap(byPath));
  return [...needed, ...oneOf].filter((some) => !some.some(({ path }) => paths.has(path)));
}

function isInOptionalGroup(definition: Definition, path: string): boolean {
  const steps = path.split('.').slice(0, -1);
  let fields: readonly Field[] = definition.fields;
  for (const step of steps) {
    const group = fields.find(({ name }) => name === step);
    if (!group?.isRequired) return true;
    fields = group.fields ?? [];
  }
  return false;
}

/** The column of a field that the service names; a fault inside a list belongs to the list. */
export function columnAt(columns: readonly ImportColumn[], field: string): ImportColumn | undefined {
  return columns.find(({ path }) => field === path || field.startsWith(`${path}.`));
}
