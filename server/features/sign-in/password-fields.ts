// Passwords in the bodies of the office's routes.
import type { Input, Reading } from '../../access/form.ts';
import { maxPasswordLength, passwordError } from './passwords.ts';

/** A typed password to compare. Limited in length because hashing takes time. */
export const typedPassword: Input<string> = {
  isRequired: true,
  read(value): Reading<string> {
    if (typeof value !== 'string') return { code: 'type', params: { type: 'string' } };
    if ([...value].length > maxPasswordLength)
      return { code: 'too_long', params: { max: maxPasswordLength } };
    return { value };
  },
};

export const newPassword: Input<string> = {
  isRequired: true,
  read(value): Reading<string> {
    if (typeof value !== 'string') return { code: 'type', params: { type: 'string' } };
    return passwordError(value) ?? { value };
  },
};
