// Maps column titles to fields: by German or English title, by field name, or by the whole path.

import type { Definition, Field, Titles } from '../definition/definition.ts';
import type { Parts } from './cell-parts.ts';
import { usualTitles } from './usual-titles.ts';

export interface ImportColumn {
  /** "address.city" */
  path: string;
  field: Field;
  titles: Titles;
  /** Set for a column that names an object as people do: the path of the reference that it fills. */
  namedPath?: string;
  /** Set for a column that holds two fields. */
  parts?: Parts;
  /** Set for a column that names the owner of another object: the reference to that object. */
  narrows?: string;
  /** Set for a column that completes the text of another field. */
  adds?: Addition;
}

export interface Addition {
  path: string;
  /** Place of the text: after the field, in an empty field, before digits, as a title, in a list, or for an empty name. */
  how: 'behind' | 'instead' | 'before' | 'title' | 'within' | 'name';
  /** A word to put before the cell, unless the cell begins with it. */
  word?: string;
}

/** The object's own id, by which an export finds its way back. */
export const idColumn = ownColumn('uuid', 'id', { de: 'ID', en: 'Id' });

/** The exported version, which reveals what others changed since. */
export const versionColumn = ownColumn('integer', 'version', { de: 'Version', en: 'Version' });

/** A column that no definition names. */
function ownColumn(kind: Field['kind'], path: string, titles: Titles): ImportColumn {
  return {
    path,
    titles,
    field: { name: path, path, kind, isRequired: false, title: titles, description: '' },
  };
}

/** Makes a column for each reference, with the number or name of its object. */
export function nameColumnsOf(definition: Definition): ImportColumn[] {
  return titledLeaves(definition.fields)
    .filter(({ field }) => field.reference)
    .map(({ path, field, titles }) => ({
      path: `${path}.name`,
      namedPath: path,
      field: { ...field, path: `${path}.name`, kind: 'text' },
      titles: { de: titles.de, en: titles.en.replace(/ id$/, '') },
    }));
}

/** "Firma" beside "Kunden-Nr." names the customer where a row has no number. */
function ownerStandInsOf(definition: Definition): ImportColumn[] {
  return nameColumnsOf(definition)
    .filter(({ field }) => field.reference?.isOwner)
    .map(({ path, field, titles }) => ({
      path: `${path}+else`,
      adds: { path, how: 'name' },
      field: { ...field, path: `${path}+else`, isRequired: false },
      titles: { de: `${titles.de} (Ersatz)`, en: `${titles.en} (else)` },
    }));
}

const ownerTitles: Readonly<Record<string, Titles>> = { customer: { de: 'Kunde', en: 'Customer' } };

/** Many customers have a site of the same name: the file says whose. */
function narrowingColumnsOf({ fields, searchedBy }: Definition): ImportColumn[] {
  return searchedBy.through.flatMap(([first, second]) => {
    const field = fields.find(({ name }) => name === first?.field);
    const titles = ownerTitles[second?.resource ?? ''];
    if (!field?.reference?.isOwner || !second || !titles) return [];
    const path = `${field.name}.${second.field}.name`;
    return [
      {
        path,
        narrows: field.name,
        field: {
          ...field,
          path,
          kind: 'text',
          isRequired: false,
          reference: { ...field.reference, resources: [second.resource] },
        },
        titles,
      },
    ];
  });
}

const additions: readonly (Addition & { name: string; titles: Titles })[] = [
  {
    path: 'companyName',
    how: 'behind',
    name: 'addition',
    titles: { de: 'Firma Zusatz', en: 'Company name addition' },
  },
  { path: 'name', how: 'behind', name: 'room', titles: { de: 'Bezeichnung Raum', en: 'Name room' } },
  { path: 'companyName', how: 'instead', name: 'title', titles: { de: 'Titel', en: 'Academic title' } },
  { path: 'companyName', how: 'instead', name: 'firstName', titles: { de: 'Vorname', en: 'First name' } },
  { path: 'companyName', how: 'instead', name: 'lastName', titles: { de: 'Nachname', en: 'Last name' } },
  {
    path: 'companyName',
    how: 'instead',
    name: 'other',
    titles: { de: 'Firma (Ersatz)', en: 'Company name (else)' },
  },
  { path: 'lastName', how: 'title', name: 'title', titles: { de: 'Titel', en: 'Academic title' } },
  {
    path: 'role',
    how: 'instead',
    name: 'department',
    titles: { de: 'Abteilung (Ersatz)', en: 'Department (else)' },
  },
  { path: 'phone', how: 'instead', name: 'mobile', titles: { de: 'Mobil (Ersatz)', en: 'Mobile (else)' } },
  {
    path: 'vatId',
    how: 'before',
    name: 'country',
    titles: { de: 'USt-IdNr. Land', en: 'VAT number country' },
  },
  {
    path: 'address.streetName',
    how: 'instead',
    word: 'Postfach',
    name: 'postbox',
    titles: { de: 'Adresse Postfach', en: 'Address PO box' },
  },
  {
    path: 'attendingIntervals',
    how: 'within',
    name: 'day',
    titles: { de: 'Wochentag der Besuche', en: 'Weekday of visits' },
  },
  {
    path: 'attendingIntervals',
    how: 'within',
    name: 'minutes',
    titles: { de: 'Dauer der Besuche', en: 'Duration of visits' },
  },
];

/** Columns of other programs that complete a field: a second name, a person without a company, a PO box. */
function additionColumnsOf(definition: Definition): ImportColumn[] {
  const columns = titledLeaves(definition.fields);
  return additions.flatMap(({ name, titles, ...adds }) => {
    const target = columns.find(({ path }) => path === adds.path);
    if (!target || columns.some(({ path }) => path === name)) return [];
    const path = `${adds.path}+${name}`;
    return [{ path, adds, titles, field: { ...target.field, path, isRequired: false } }];
  });
}

const pairs: readonly { kind: Parts['kind']; names: readonly [string, string]; isLastFirst?: boolean }[] = [
  { kind: 'street', names: ['streetName', 'houseNumber'] },
  { kind: 'town', names: ['zipCode', 'city'] },
  { kind: 'person', names: ['firstName', 'lastName'] },
  { kind: 'person', names: ['firstName', 'lastName'], isLastFirst: true },
];

/** Columns that hold several fields, as in "PLZ und Ort". */
function pairColumnsOf(definition: Definition): ImportColumn[] {
  const columns = titledLeaves(definition.fields);
  const street = columns.find(({ path }) => path === 'address.streetName');
  const whole: ImportColumn[] = street
    ? [
        {
          path: 'address.whole',
          field: { ...street.field, path: 'address.whole', isRequired: false },
          titles: { de: 'Adresse in einer Zelle', en: 'Address in one cell' },
          parts: {
            kind: 'address',
            paths: ['streetName', 'houseNumber', 'zipCode', 'city'].map((name) => `address.${name}`),
          },
        },
      ]
    : [];
  const twos: ImportColumn[] = pairs.flatMap(({ kind, names: [first, second], isLastFirst }) =>
    columns.flatMap((one) => {
      if (one.field.name !== first) return [];
      const path = one.path.replace(/\w+$/, second);
      const other = columns.find((column) => column.path === path);
      if (!other) return [];
      const [left, right] = isLastFirst ? [other, one] : [one, other];
      const joined = `${left.path}+${right.field.name}`;
      const { de, en } = right.field.title;
      const salutation = columns.find((column) => column.path === one.path.replace(/\w+$/, 'salutation'));
      return [
        {
          path: joined,
          field: { ...one.field, path: joined, kind: 'text', isRequired: false },
          titles: { de: `${left.titles.de} und ${de}`, en: `${left.titles.en} and ${uncapitalize(en)}` },
          parts: {
            kind,
            paths: [one.path, path],
            ...(kind === 'person' && salutation && { salutationPath: salutation.path }),
            ...(isLastFirst && { isLastFirst }),
          },
        },
      ];
    }),
  );
  return [...twos, ...whole];
}

/** All columns that a person can choose: ids last. */
export function officeColumnsOf(definition: Definition): ImportColumn[] {
  const columns = columnsOf(definition);
  const isId = ({ field, path }: ImportColumn) =>
    Boolean(field.reference || field.twinOf || /ExternalId$/.test(path));
  return [
    ...nameColumnsOf(definition),
    ...narrowingColumnsOf(definition),
    ...columns.filter((column) => !isId(column)),
    ...pairColumnsOf(definition),
    ...additionColumnsOf(definition),
    ...ownerStandInsOf(definition),
    idColumn,
    versionColumn,
    ...columns.filter(isId),
  ];
}

/** Title of a report's last column, which holds the errors of the row. The next import ignores it. */
export const errorTitles: Titles = { en: 'Error', de: 'Fehler' };

/** All columns of a resource. An owner has two: one for its id and one for its external id. */
export function columnsOf(definition: Definition): ImportColumn[] {
  return titledLeaves(definition.fields).flatMap((column) => {
    const { field, path, titles } = column;
    if (!field.reference) return [column];
    // The German title of a reference names the object; the column holds its id.
    const byId = { ...column, titles: { ...titles, de: `${titles.de} ID` } };
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
      titles: externalTitles(titles),
    };
    return [byId, byExternalId];
  });
}

export function externalTitles({ de, en }: Titles): Titles {
  return { de: `${de} externe ID`, en: en.replace(/ id$/, ' external id') };
}

/** customerId is customerExternalId. */
function externalName(path: string): string {
  return path.replace(/Id$/, 'ExternalId');
}

/** Every field that holds a value, titled with its groups: "Address postcode". */
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

/** Keeps "VAT rate". */
function uncapitalize(title: string): string {
  return /^\p{Lu}{2}/u.test(title) ? title : title.charAt(0).toLowerCase() + title.slice(1);
}

const umlauts: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' };

/** Ignores case and word separators: "Address city" equals "address.city" and "ADDRESS_CITY". */
export function foldTitle(title: string): string {
  return title
    .normalize('NFC')
    .toLowerCase()
    .replace(/[äöüß]/g, (letter) => umlauts[letter]!)
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** The column of each title; undefined for unknown titles. */
export function matchTitles(definition: Definition, titles: readonly string[]): (ImportColumn | undefined)[] {
  const known = knownTitles(columnsOf(definition));
  return withHouseNumbers(
    definition,
    titles.map((title) => known.get(foldTitle(title))),
  );
}

/** A column of streets holds the house numbers too, if no other column does. A street without one is fine. */
function withHouseNumbers(
  definition: Definition,
  columns: readonly (ImportColumn | undefined)[],
): (ImportColumn | undefined)[] {
  const paths = new Set(columns.flatMap((column) => column?.parts?.paths ?? column?.path ?? []));
  const pairs = pairColumnsOf(definition).filter(({ parts }) => parts?.kind === 'street');
  return columns.map((column) => {
    const pair = pairs.find(({ parts }) => parts?.paths[0] === column?.path);
    return pair && !paths.has(pair.parts!.paths[1]!) ? pair : column;
  });
}

/** Without first names, "Name" holds both names. Without postcode and town, an address holds everything. */
function withPairs(
  definition: Definition,
  titles: readonly string[],
  columns: readonly (ImportColumn | undefined)[],
): (ImportColumn | undefined)[] {
  const paths = new Set(columns.flatMap((column) => column?.parts?.paths ?? column?.path ?? []));
  const pairs = pairColumnsOf(definition);
  const whole = pairs.find(({ parts }) => parts?.kind === 'address');
  return withHouseNumbers(definition, columns).map((column, index) => {
    if (
      whole &&
      column?.parts?.kind === 'street' &&
      !whole.parts!.paths.slice(2).some((path) => paths.has(path))
    )
      return whole;
    const person = pairs.find(({ parts }) => parts?.kind === 'person' && parts.paths[1] === column?.path);
    const isWhole = person && foldTitle(titles[index]!) === 'name' && !paths.has(person.parts!.paths[0]!);
    return isWhole ? person : column;
  });
}

function knownTitles(
  columns: readonly ImportColumn[],
  withPlainReferences = true,
): Map<string, ImportColumn> {
  const known = new Map<string, ImportColumn>();
  const add = (column: ImportColumn, forms: readonly string[]) => {
    for (const form of forms.map(foldTitle)) if (!known.has(form)) known.set(form, column);
  };
  for (const column of columns) {
    const { path, field, titles } = column;
    // An export for programs uses the plain title of a reference.
    const plain = withPlainReferences && field.reference ? [field.title.de] : [];
    add(column, [path, titles.de, titles.en, ...plain]);
  }
  // A member of a group also matches by its own name, if that is unambiguous.
  for (const column of columns.filter(
    ({ path, namedPath, parts, narrows, adds }) =>
      path.includes('.') && !namedPath && !parts && !narrows && !adds,
  )) {
    add(column, [column.field.name, column.field.title.de]);
  }
  return known;
}

/**
 * Guesses the column of each title, each column once: exact titles first, then usual office names. The user sees the guess
 * and can change it.
 */
export function guessColumns(
  definition: Definition,
  titles: readonly string[],
): (ImportColumn | undefined)[] {
  const columns = officeColumnsOf(definition);
  const usual = new Map<string, ImportColumn>();
  for (const column of columns) {
    // A reference comes before a field of the same name: "Objekt" of a plant is its site.
    for (const title of (usualTitles[column.path] ?? []).map(foldTitle))
      if (!usual.has(title)) usual.set(title, column);
  }
  const known = knownTitles(columns, false);
  const tiers: ((title: string) => (ImportColumn | undefined)[])[] = [
    (title) => [known.get(foldTitle(title))],
    (title) => [usual.get(foldTitle(title))],
    (title) =>
      plainerTitles(title, (other) => known.has(other) || usual.has(other)).map(
        (plainer) => known.get(plainer) ?? usual.get(plainer),
      ),
  ];
  const guessed = titles.map((): ImportColumn | undefined => undefined);
  for (const guess of tiers) {
    titles.forEach((title, index) => {
      guessed[index] ??= guess(title).find((column) => column && !guessed.includes(column));
    });
  }
  for (const standIn of ownerStandInsOf(definition)) {
    const owner = columns.find(({ path }) => path === standIn.adds?.path);
    const index = titles.findIndex((title, at) => !guessed[at] && usual.get(foldTitle(title)) === owner);
    if (index >= 0 && guessed.includes(owner)) guessed[index] = standIn;
  }
  const placed = placeNumbers(definition, titles, placeDescription(definition, titles, guessed));
  return withPairs(definition, titles, withStandIns(columns, placed));
}

/** "Beschreibung" is the name in a list that has no other. */
function placeDescription(
  definition: Definition,
  titles: readonly string[],
  guessed: readonly (ImportColumn | undefined)[],
): (ImportColumn | undefined)[] {
  const name = columnsOf(definition).find(({ path, field }) => path === 'name' && field.isRequired);
  if (!name || guessed.some((column) => column?.path === 'name')) return [...guessed];
  return guessed.map((column, index) =>
    column?.field.name === 'comment' && foldTitle(titles[index]!) === 'beschreibung' ? name : column,
  );
}

const numberTitles = new Set(['nr', 'no', 'lfdnr', 'id', 'nummer'].map(foldTitle));

/** A bare "Nr." is the house number behind a street, and the number of the object elsewhere. */
function placeNumbers(
  definition: Definition,
  titles: readonly string[],
  guessed: readonly (ImportColumn | undefined)[],
): (ImportColumn | undefined)[] {
  const isHouse = (column: ImportColumn | undefined) => column?.field.name === 'houseNumber';
  return guessed.map((column, index) => {
    if (!isHouse(column) || !numberTitles.has(foldTitle(titles[index]!))) return column;
    if (guessed[index - 1]?.field.name === 'streetName') return column;
    const own = definition.uniqueFields.find((name) => name !== 'externalId');
    const number = columnsOf(definition).find(({ path }) => path === own);
    return guessed.some((other) => other?.path === number?.path) ? undefined : number;
  });
}

/** "Rechnungsadresse: Ort" and "Billing city" are towns. */
const addressKind =
  /^(?:rechnungs?(?:an|empfaenger)?|liefer|lieferungs?|kunden?|firmen?|objekt|standort|besuchs|post|haupt|geschaefts|billing|shipping|delivery|invoice|mailing|company|business|site|default|primary|billto|shipto)/;
const addressPrefix = new RegExp(`${addressKind.source}(?:adressen?|anschrift|address)`);
const addressSuffix =
  /(?:geschaeftlich|geschaeftl|dienstlich|dienstl|gesch|firma|zentrale|privat|work|office|main|1)$/;
/** Only these titles keep their meaning beside another word. */
const addressTitles = new Set(
  [
    ...[
      'Straße',
      'Str',
      'Strasse',
      'Anschrift',
      'Hausnummer',
      'Hausnr',
      'PLZ',
      'Postleitzahl',
      'Ort',
      'Stadt',
      'PLZ Ort',
    ],
    ...[
      'PLZ/Ort',
      'Straße/Nr.',
      'Straße Nr.',
      'Telefon',
      'Tel',
      'Telefonnummer',
      'Mobil',
      'Handy',
      'E-Mail',
      'Mail',
    ],
    ...[
      'Street',
      'Address 1',
      'Address line 1',
      'Street address',
      'House number',
      'Street no',
      'Zip',
      'Zip code',
      'Postcode',
      'Postal code',
    ],
    ...[
      'City',
      'Town',
      'Phone',
      'Phone number',
      'Email',
      'Email address',
      'Company',
      'First name',
      'Last name',
      'Name',
    ],
    ...['Firma', 'Vorname', 'Nachname', 'Mobilnummer', 'Mobiltelefon'],
  ].map(foldTitle),
);

/** The title without its unit or remark: "Höhe [cm]", "Telefon (Büro)", and without what kind of address it is. */
function plainerTitles(title: string, isKnown: (folded: string) => boolean): string[] {
  const [, remark = ''] = /[([{<](.*?)[)\]}>]?$/.exec(title) ?? [];
  // "Bemerkung (Telefon)" is about another field.
  const bare = isKnown(foldTitle(remark))
    ? ''
    : foldTitle(title.replace(/[([{<].*$/, '').replace(/\s+in\s+\S+$/i, ''));
  const folded = foldTitle(title);
  const kinds = [addressKind, addressPrefix].map((prefix) => folded.replace(prefix, ''));
  const shorter = [...kinds, folded.replace(addressSuffix, '')];
  return [bare, ...shorter.filter((form) => form !== folded && addressTitles.has(form))].filter(
    (form) => form !== '',
  );
}

/** A column that would only stand in for another one is that other one, if the file lacks it. */
function withStandIns(
  columns: readonly ImportColumn[],
  guessed: readonly (ImportColumn | undefined)[],
): (ImportColumn | undefined)[] {
  return guessed.map((column) => {
    const { path, how } = column?.adds ?? {};
    const target = columns.find((other) => other.path === path);
    if (how === 'within' && !guessed.includes(target)) return undefined;
    const isAlone = how === 'instead' && !target?.field.isRequired && !guessed.includes(target);
    return isAlone && !path?.includes('.') ? target : column;
  });
}

/** Every title, folded, that matches some column of the office. */
export function allTitles(definitions: readonly Definition[]): Set<string> {
  const columns = definitions.flatMap(officeColumnsOf);
  const usual = columns.flatMap(({ path }) => usualTitles[path] ?? []);
  return new Set([...knownTitles(columns, false).keys(), ...usual.map(foldTitle)]);
}

/** The resource with most titles; of several, the one that lacks the fewest required columns. */
export function guessDefinition(
  definitions: readonly Definition[],
  titles: readonly string[],
): Definition | undefined {
  return rankDefinitions(definitions, titles, guessColumns)[0]?.definition;
}

/** The resource with most titles among those with all required columns; undefined if several fit equally. */
export function findDefinition(
  definitions: readonly Definition[],
  titles: readonly string[],
): Definition | undefined {
  const [best, second] = rankDefinitions(definitions, titles, matchTitles).filter(
    ({ missing }) => missing === 0,
  );
  return best && best.count > (second?.count ?? 0) ? best.definition : undefined;
}

/** Guesses as a person would. Undefined if a required column is missing, or if two resources fit equally. */
export function findGuessedDefinition(
  definitions: readonly Definition[],
  titles: readonly string[],
): Definition | undefined {
  const [best, second] = rankDefinitions(definitions, titles, guessColumns);
  if (!best || missingForCertain(best.definition, guessColumns(best.definition, titles)).length > 0)
    return undefined;
  return best.count > (second?.count ?? 0) || best.missing < (second?.missing ?? 0)
    ? best.definition
    : undefined;
}

/** Required columns that the file lacks and that the import cannot do without: a silent flag is no. */
export function missingForCertain(
  definition: Definition,
  columns: readonly (ImportColumn | undefined)[],
): ImportColumn[][] {
  const flags = new Set(requiredFlagsOf(definition).map(({ path }) => path));
  return missingColumns(definition, columns).filter(([first]) => !flags.has(first!.path));
}

/** Resources with at least one title, best match first. */
function rankDefinitions(
  definitions: readonly Definition[],
  titles: readonly string[],
  match: typeof matchTitles,
): { definition: Definition; count: number; missing: number }[] {
  return definitions
    .map((definition) => {
      const columns = match(definition, titles);
      const missing = missingColumns(definition, columns).length;
      // A column that completes another one says little: first and last names also stand in a list of customers.
      const count = columns.filter((column) => column && !column.adds).length;
      return { definition, count, missing, fit: count - missingForCertain(definition, columns).length };
    })
    .filter(({ count }) => count > 0)
    .sort((one, other) => other.fit - one.fit || one.missing - other.missing || other.count - one.count);
}

/** Required columns that the file lacks. Any one column of an entry is enough. */
export function missingColumns(
  definition: Definition,
  chosen: readonly (ImportColumn | undefined)[],
): ImportColumn[][] {
  const paths = new Set(
    chosen.flatMap((column) =>
      column ? [column.path, column.adds?.path ?? '', ...(column.parts?.paths ?? [])] : [],
    ),
  );
  // Rows with an id change existing objects.
  if (paths.has(idColumn.path)) return [];
  const columns = columnsOf(definition);
  const names = nameColumnsOf(definition);
  const byPath = (path: string) => columns.filter((column) => column.path === path);
  const needed = columns
    // A member of an optional group is required only within it. A text that may be empty is sent as empty.
    .filter(
      ({ field, path }) => field.isRequired && !field.isBlankAllowed && !isInOptionalGroup(definition, path),
    )
    .map(({ path, field }) => [
      ...byPath(path),
      ...(field.reference?.isOwner ? byPath(externalName(path)) : []),
      ...names.filter(({ namedPath }) => namedPath === path),
    ]);
  const oneOf = definition.requiredOneOf.map((names) => names.flatMap(byPath));
  return [...needed, ...oneOf].filter((some) => !some.some(({ path }) => paths.has(path)));
}

/** Fields that say yes or no and must be there: the import takes them for no where a file is silent. */
export function requiredFlagsOf(definition: Definition): Field[] {
  return definition.fields.filter(({ kind, isRequired }) => kind === 'flag' && isRequired);
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
  return columns.find(
    ({ path, namedPath, parts }) =>
      field === path || field === namedPath || field.startsWith(`${path}.`) || parts?.paths.includes(field),
  );
}
