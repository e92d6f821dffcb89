// Cells that hold two fields, as offices write them: "26122 Oldenburg", "Lange Straße 5a", "Frau Anke Petersen".

export interface Parts {
  kind: 'town' | 'street' | 'person';
  /** Postcode and town, street and house number, first and last name. */
  paths: readonly [string, string];
}

/** The values of both fields; undefined where the cell does not have one. */
export function splitCell({ kind }: Parts, cell: string): [string | undefined, string | undefined] {
  const text = cell.replace(/\s+/g, ' ').trim();
  if (text === '') return [undefined, undefined];
  if (kind === 'town') return splitTown(text);
  return kind === 'street' ? splitStreet(text) : splitPerson(text);
}

function splitTown(text: string): [string | undefined, string | undefined] {
  const match = /^(?:[A-Z]{1,3}-? ?)?(\d{4,5})[ ,]+(.+)$/.exec(text);
  return match ? [match[1], match[2]] : [undefined, text];
}

/** A street without a number has an empty one. */
function splitStreet(text: string): [string, string] {
  const match = /^(.*?[^\s\d,]),? ?(\d+ ?[a-z]?(?: ?[-–/+] ?\d+ ?[a-z]?)*)$/i.exec(text);
  return match ? [match[1]!, match[2]!] : [text, ''];
}

const salutation = /^(?:herrn?|frau|mr|mrs|ms)\.? /i;
/** "von der Heide" is a last name. */
const particle = /^(?:von|van|vom|zu|zum|zur|de|den|der|del|di|da|la|le|ten|ter)$/;

function splitPerson(text: string): [string | undefined, string] {
  const name = text.replace(salutation, '');
  const comma = /^(.+?), ?(.+)$/.exec(name);
  if (comma) return [comma[2]!, comma[1]!];
  const words = name.split(' ');
  const firstParticle = words.findIndex((word, index) => index > 0 && particle.test(word));
  const start = firstParticle > 0 ? firstParticle : words.length - 1;
  return [words.slice(0, start).join(' ') || undefined, words.slice(start).join(' ')];
}
