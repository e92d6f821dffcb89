// Bodies that are refused: making them from valid ones, and holding the answer to the expected errors.
import assert from 'node:assert/strict';
import type { TestService } from './service.ts';
import { countRows } from './stored-rows.ts';

/** An expected item of errors[], without its sentence. */
export type Expected = { field: string; pointer: string; code: string; params?: object };

export function fieldError(field: string, code: string, params?: object): Expected {
  const pointer = field === '' ? '' : `/${field.replaceAll('.', '/')}`;
  return { field, pointer, code, ...(params && { params }) };
}

/** The codes of all errors that this file's tests received. */
export const codesSeen = new Set<string>();

export async function assertRefused(
  { owner, post }: Pick<TestService, 'owner' | 'post'>,
  path: string,
  body: unknown,
  expected: readonly Expected[],
): Promise<void> {
  const before = await countRows(owner);
  const response = await post(path, body);
  assert.equal(response.statusCode, 400, response.body);
  const { code, errors } = response.json();
  assert.equal(code, 'validation_failed');
  const found = errors.map(({ message, ...item }: Expected & { message: string }) => {
    assert.match(message, /^[A-Z][^{}]+\.$/);
    assert.doesNotMatch(message, /undefined/);
    codesSeen.add(item.code);
    return item;
  });
  assert.deepEqual(found.sort(byField), [...expected].sort(byField));
  assert.equal(await countRows(owner), before, 'nothing is stored');
}

function byField(one: Expected, other: Expected): number {
  return one.field.localeCompare(other.field) || one.code.localeCompare(other.code);
}

/** The body with one member replaced by JSON as it is written here, or removed where there is none. */
export function withMember(body: object, field: string, json: string | undefined): string {
  const [name = '', ...rest] = field.split('.');
  const members = Object.entries(body).filter(([other]) => other !== name);
  const inner = Object.entries(body).find(([other]) => other === name)?.[1] ?? {};
  const written = rest.length > 0 ? withMember(inner, rest.join('.'), json) : json;
  const texts = members.map(([other, value]) => `${JSON.stringify(other)}:${JSON.stringify(value)}`);
  if (written !== undefined) texts.push(`${JSON.stringify(name)}:${written}`);
  return `{${texts.join()}}`;
}
