// Collects the values by which a new row is compared with stored objects and with earlier rows.
import { valueAt } from '../definition/definition.ts';
import { foldName } from '../definition/names.ts';

export interface ComparedRow {
  row: number;
  externalId?: string;
  number?: string;
  name?: string;
  firstName?: string;
  zipCode?: string;
  ownerId?: string;
  email?: string;
  phone?: string;
}

/** The object that a row changes, or the choice to leave the row out. */
export type RowChoices = ReadonlyMap<number, string>;

const paths: Readonly<Record<Exclude<keyof ComparedRow, 'row'>, readonly string[]>> = {
  externalId: ['externalId'],
  number: ['customerNumber', 'articleNumber', 'employeeNumber', 'contractNumber', 'labelCode'],
  name: ['companyName', 'lastName', 'name'],
  firstName: ['firstName'],
  zipCode: ['address.zipCode'],
  ownerId: ['customerId'],
  email: ['email'],
  phone: ['phone', 'mobile'],
};

const maxLength = 300;

/** Undefined for a row that names its object by id. */
export function comparedRow(row: number, line: { data: Record<string, unknown> }): ComparedRow | undefined {
  if (line.data.id !== undefined) return undefined;
  const compared: ComparedRow = { row };
  for (const [name, candidates] of Object.entries(paths)) {
    const value = candidates.map((path) => valueAt(line.data, path)).find((found) => found !== undefined);
    if (typeof value === 'string' && value.trim() !== '' && value.length <= maxLength)
      compared[name as 'name'] = value.trim();
  }
  return compared;
}

interface EarlierRow {
  row: number;
  /** Two names with one e-mail address may be two companies: a person decides. */
  reason: 'repeated' | 'email';
}

/** Rows that repeat an earlier one. */
export function findRepeatedRows(rows: readonly ComparedRow[]): Map<number, EarlierRow> {
  const seen = new Map<string, number>();
  const repeated = new Map<number, EarlierRow>();
  for (const { row, externalId, number, name, firstName = '', zipCode = '', ownerId = '', email } of rows) {
    // The import itself sees that two rows mean the same object.
    if (externalId !== undefined) continue;
    const keys = [
      ...(number === undefined ? [] : [`number ${number}`]),
      ...(name !== undefined && (zipCode !== '' || ownerId !== '')
        ? [`name ${[name, firstName, zipCode, ownerId].map(foldName).join('\n')}`]
        : []),
    ];
    // Colleagues share the address of their company.
    const address = email && zipCode && !ownerId ? `email ${zipCode} ${email.toLowerCase()}` : undefined;
    const same = keys.map((key) => seen.get(key)).find((known) => known !== undefined);
    const earlier = same ?? (address && seen.get(address));
    if (earlier) repeated.set(row, { row: earlier, reason: same === undefined ? 'email' : 'repeated' });
    if (address) keys.push(address);
    for (const key of keys) if (!seen.has(key)) seen.set(key, row);
  }
  return repeated;
}
