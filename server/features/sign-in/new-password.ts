// A new password is judged and hashed. Both take time on purpose or by nature, so nobody takes more than a few places:
// one person cannot keep others from setting a password.
import { Tally } from '../../../core/tally.ts';
import { ApiError, type FieldError, validationError } from '../../errors.ts';
import { judgePassword } from './password-strength.ts';
import { hashPassword } from './passwords.ts';

const places = { ofPerson: 3, ofTenant: 9, inAll: 40 };

/** Who sets it: `id` is of the person, or of the link that makes one. */
export interface Setter {
  tenantId: string;
  id: string;
}

interface NewPassword {
  field: string;
  password: string;
  /** The names and the address that somebody would try first. */
  words: readonly string[];
}

const taken = new Tally();

export async function hashNewPassword(setter: Setter, { field, password, words }: NewPassword) {
  const release = takePlaces([
    ['all', places.inAll],
    [`tenant ${setter.tenantId}`, places.ofTenant],
    [`person ${setter.id}`, places.ofPerson],
  ]);
  try {
    const flaw = await flawOf(password, words);
    if (flaw) throw validationError([{ path: [field], ...flaw }]);
    return await hashPassword(password);
  } finally {
    release();
  }
}

/** A password that could not be judged in time is rejected, never accepted unseen. */
export async function flawOf(
  password: string,
  words: readonly string[],
): Promise<Omit<FieldError, 'path'> | undefined> {
  const strength = await judgePassword(password, words);
  if (strength === 'STRONG') return undefined;
  return { code: strength === 'GUESSABLE' ? 'too_easy' : 'too_complex' };
}

function takePlaces(wanted: readonly (readonly [holder: string, limit: number])[]): () => void {
  if (wanted.some(([holder, limit]) => taken.of(holder) >= limit)) throw new ApiError('too_many_sign_ins');
  for (const [holder] of wanted) taken.add(holder);
  return () => {
    for (const [holder] of wanted) taken.remove(holder);
  };
}
