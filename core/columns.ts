// Which field a column of a file fills, by its title: German or English, the field's name, or its whole path.
import type { Definition, Field, Titles } from './definition.ts';

export interface ImportColumn {
  /** "address.city" */
  path: string;
  field: Field;
  titles: Titles;
}

/** The last column of a report: what is wrong with the row. The next import ignores it. */
export const errorTitles: Titles = { en: 'Error', de: 'Fehler' };

/** All columns of a resource. An owner has two: one for its id and one for its external id. */
export function columnsOf(definition: Definition): ImportColumn[] {
  return titledLeaves(definition.fields).flatMap((column) => {
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

/** Every field that holds a value, called by the titles of its groups and its own: "Address zip code". */
export function titledLeaves(
  fields: readonly Field[],
  parents: Record<'de' | 'en', string> = { de: '', en: '' },
): ImportColumn[] {
  return fields.flatMap((field) => {
    const { de, en } = field.title;
    const titles =
      parents.en === '' ? { de, en } : { de: `${parents.de} ${de}`, en: `${parents.en} ${uncapitalize(en)}` };
    return field.fields ? titledLeaves(field.fields, titles) : [{ path: field.path, field, titles }];
  });
}

/** "VAT rate" stays as it is. */
function uncapitalize(title: string): string {
  return /^\p{Lu}{2}/u.test(title) ? title : title.charAt(0).toLowerCase() + title.slice(1);
}

const umlauts: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' };

/** "Address city", "address.city" and "ADRESSE_ORT" are compared without case and without what separates words. */
export function foldTitle(title: string): string {
  return title
    .normalize('NFC')
    .toLowerCase()
    .replace(/[äöüß]/g, (letter) => umlauts[letter]!)
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** The column of each title; titles that mean nothing here have none. */
export function matchTitles(definition: Definition, titles: readonly string[]): (ImportColumn | undefined)[] {
  const known = knownTitles(columnsOf(definition));
  return titles.map((title) => known.get(foldTitle(title)));
}

function knownTitles(columns: readonly ImportColumn[]): Map<string, ImportColumn> {
  const known = new Map<string, ImportColumn>();
  const add = (column: ImportColumn, forms: readonly string[]) => {
    for (const form of forms.map(foldTitle)) if (!known.has(form)) known.set(form, column);
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
  return known;
}

/** What spreadsheets of offices call a field. */
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

/**
 * The columns that titles probably mean, each once: by what offices call things, where no title says it exactly. For people
 * who see the guess and can choose another.
 */
export function guessColumns(
  definition: Definition,
  titles: readonly string[],
): (ImportColumn | undefined)[] {
  const columns = columnsOf(definition);
  const habitual = new Map(
    columns.flatMap((column) =>
      (habits[column.path] ?? []).map((title) => [foldTitle(title), column] as const),
    ),
  );
  const known = knownTitles(columns);
  const exact = titles.map((title) => known.get(foldTitle(title)));
  const used = new Set(exact);
  const guessed = titles.map((title, index) => {
    const guess = habitual.get(foldTitle(title));
    return exact[index] ?? (used.has(guess) ? undefined : guess);
  });
  return withoutRepetitions(guessed);
}

function withoutRepetitions(columns: readonly (ImportColumn | undefined)[]): (ImportColumn | undefined)[] {
  return columns.map((column, index) => (column && columns.indexOf(column) === index ? column : undefined));
}

/** The resource that most titles belong to, of those whose required columns are there if there are such. */
export function guessDefinition(
  definitions: readonly Definition[],
  titles: readonly string[],
): Definition | undefined {
  return rankDefinitions(definitions, titles, guessColumns)[0]?.definition;
}

/** The resource that most titles belong to and whose required columns are all there; none where several fit alike. */
export function findDefinition(
  definitions: readonly Definition[],
  titles: readonly string[],
): Definition | undefined {
  const [best, second] = rankDefinitions(definitions, titles, matchTitles).filter(
    ({ isComplete }) => isComplete,
  );
  return best && best.count > (second?.count ?? 0) ? best.definition : undefined;
}

/** Those that any title belongs to, the best first. */
function rankDefinitions(
  definitions: readonly Definition[],
  titles: readonly string[],
  match: typeof matchTitles,
): { definition: Definition; count: number; isComplete: boolean }[] {
  return definitions
    .map((definition) => {
      const columns = match(definition, titles);
      return {
        definition,
        count: columns.filter(Boolean).length,
        isComplete: missingColumns(definition, columns).length === 0,
      };
    })
    .filter(({ count }) => count > 0)
    .sort((one, other) => Number(other.isComplete) - Number(one.isComplete) || other.count - one.count);
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

/** The column of a field that the service names; an error inside a list belongs to the list. */
export function columnAt(columns: readonly ImportColumn[], field: string): ImportColumn | undefined {
  return columns.find(({ path }) => field === path || field.startsWith(`${path}.`));
}
