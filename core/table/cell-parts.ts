// Cells that hold several fields, as offices write them: "26122 Oldenburg", "Lange Straße 5a", "Frau Anke Petersen".

export interface Parts {
  kind: 'town' | 'street' | 'person' | 'address';
  /** Postcode and town, street and house number, first and last name, or all of an address. */
  paths: readonly string[];
  /** Path of the field for a person's salutation. */
  salutationPath?: string;
  /** "Petersen Anke", without a comma. */
  isLastFirst?: boolean;
}

const longestCell = 200;

/** The values of the fields; undefined where the cell does not have one. */
export function splitCell({ kind, isLastFirst }: Parts, cell: string): (string | undefined)[] {
  if (kind === 'address') return splitAddress(cell);
  const text = cell.replace(/\s+/g, ' ').trim();
  if (text === '') return [undefined, undefined];
  // No address is longer, and the patterns take longer than linear time.
  if (text.length > longestCell) return kind === 'street' ? [text, ''] : [undefined, text];
  if (kind === 'town') return splitTown(text);
  return kind === 'street' ? splitStreet(text) : splitPerson(text, isLastFirst);
}

/** "Lange Straße 5, 26122 Oldenburg", also in two lines. */
function splitAddress(cell: string): (string | undefined)[] {
  const text = cell.trim().slice(0, longestCell);
  const match =
    /^(.*\S)\s*[,;\n/|–-]\s*((?:[A-Z]{1,3}-? ?)?\d{4,5} .+)$/s.exec(text) ??
    /^(.*\S)\s+(\d{5} .+)$/s.exec(text);
  if (!match) return text === '' ? [] : [text];
  const street = match[1]!.replace(/\s*\n\s*/g, ', ');
  return [...splitStreet(street), ...splitTown(match[2]!.replace(/\s+/g, ' '))];
}

function splitTown(text: string): [string | undefined, string | undefined] {
  const match = /^(?:[A-Z]{1,3}-? ?)?(\d{4} ?[A-Z]{2}(?= )|\d{4,5})[ ,]+(.+)$/.exec(text);
  return match ? [match[1], match[2]] : [undefined, text];
}

const number = '\\d+(?: ?[a-z](?![a-z]))?(?: \\d/\\d)?(?:(?: ?(?:bis|ter|hs|[ivx]+))(?![a-z]))?';
/** "12-14", "12/3/15", "70 A-1", "5 Top 3", "8 (Hinterhaus)" */
const numbers =
  `${number}(?: ?[-–/+&] ?(?:${number}|[ivx]+|[a-z])(?![a-z]))*` +
  '(?:[ ,/]+(?:\\d+\\. ?(?:og|ug|stock|etage|obergeschoss|floor)|haus|hinterhaus|vorderhaus|geb(?:äude|\\.)|stiege|stg\\.?|top|tür|whg\\.?|aufgang|eingang|og|eg)(?![a-z]).*| ?\\(.*\\))?';
const streetBeforeNumber = new RegExp(`^(.*?[^\\s\\d,]),?(?: ?(?:nr|no)\\.?)? ?(${numbers})$`, 'i');
/** Mannheim's blocks are streets: "C 3, 12". */
const blockBeforeNumber = new RegExp(`^([a-u] ?\\d{1,2})(?:[, ]+(${numbers}))?$`, 'i');
/** "12, rue du Lac" */
const numberBeforeStreet = new RegExp(
  `^(${number}),? ((?:rue|avenue|av\\.|chemin|ch\\.|route|place|quai|boulevard|impasse|allée|via|viale|piazza) .+|[^\\d,]+ (?:road|rd\\.?|street|avenue|ave\\.?|lane|drive|square|terrace|way|close))$`,
  'i',
);
/** Streets and post boxes whose number is a part of the name. */
const numberedName =
  /^(?:postfach|pf|p\.? ?o\.? ?box|postbus|case postale|schließfach)(?![a-z])|(?:^| )[abl] ?\d+$/i;

/** A street without a number has an empty one. */
function splitStreet(text: string): [string, string] {
  const block = blockBeforeNumber.exec(text);
  if (block) return [block[1]!, block[2] ?? ''];
  if (numberedName.test(text)) return [text, ''];
  const [, first, street] = numberBeforeStreet.exec(text) ?? [];
  if (street) return [street, first!];
  const match = streetBeforeNumber.exec(text);
  return match ? [match[1]!, match[2]!] : [text, ''];
}

const salutation =
  /^(?:(?:sehr geehrte[rs]?|an|z\. ?hd\.?(?: von)?|zu händen(?: von)?) )?(herrn?|hr\.?|frau|fr\.|dhr|mevr|mr|mrs|ms|miss)\.? /i;
/** Several people, who have no salutation of their own: their words stay in the last name. */
const several =
  /^(?:familie|fam\.|eheleute|ehepaar|(?:herrn?|hr\.) (?:und|u\.|&|\+) (?:frau|fr\.)|(?:frau|fr\.) (?:und|u\.|&|\+) (?:herrn?|hr\.)) /i;
const title =
  /^(?:(?:(?:dr|prof)\.?|(?:dipl|mag|ing|med|dent|vet|habil|theol|rer|nat|oec|jur|phil|h\. ?c)\.)(?:-\p{L}+\.?)*\s+)+/iu;
/** "von der Heide" is a last name. */
const particle = /^(?:von|van|vom|zu|zum|zur|de|den|der|del|di|da|la|le|ten|ter)$/;

/** A title stands before the first name, or before a last name that is alone. */
function splitPerson(text: string, isLastFirst?: boolean): [string | undefined, string] {
  if (several.test(text)) return [undefined, text];
  const name = text.replace(salutation, '');
  const [titles = ''] = title.exec(name) ?? [];
  const [first, last] = splitName(name.slice(titles.length), isLastFirst);
  return first === undefined ? [undefined, titles + last] : [titles + first, last];
}

function splitName(name: string, isLastFirst = false): [string | undefined, string] {
  const comma = /^(.+?), ?(.+)$/.exec(name);
  if (comma) return [comma[2]!, comma[1]!];
  const words = name.split(' ');
  if (isLastFirst) {
    const last = 1 + words.findIndex((word) => !particle.test(word));
    return [words.slice(last).join(' ') || undefined, words.slice(0, last).join(' ')];
  }
  const firstParticle = words.findIndex((word) => particle.test(word));
  const start = firstParticle >= 0 ? firstParticle : words.length - 1;
  return [words.slice(0, start).join(' ') || undefined, words.slice(start).join(' ')];
}

/** MR, MRS or NONE where the cell begins with a salutation. */
export function salutationOf(cell: string): string | undefined {
  const text = cell.replace(/\s+/g, ' ').trimStart();
  if (several.test(text)) return 'NONE';
  const [, word] = salutation.exec(text) ?? [];
  if (word === undefined) return undefined;
  return /^(?:h|d|mr\.?$)/i.test(word) ? 'MR' : 'MRS';
}

/** The academic title in a cell with a salutation. */
export function titleOf(cell: string): string {
  const text = `${cell.replace(/\s+/g, ' ').trim()} `;
  return (title.exec(text.replace(salutation, ''))?.[0] ?? '').trim();
}
