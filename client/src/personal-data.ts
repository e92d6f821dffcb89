// Data protection: export and erasure of a person.
import type { components } from './api-types.ts';
import type { CallOptions, Http } from './http.ts';

export interface EraseOptions extends CallOptions {
  /** Checks everything and erases nothing. */
  dryRun?: boolean;
  /** Texts that name the person elsewhere, such as in the comment of a site. They are erased too. */
  texts?: readonly string[];
}

export interface PersonalData {
  /** Everything about a contact person, an employee or a customer. */
  get(id: string, options?: CallOptions): Promise<components['schemas']['PersonalData']>;
  /** Cannot be undone. */
  erase(id: string, options?: EraseOptions): Promise<void>;
}

export function openPersonalData(http: Http): PersonalData {
  const pathOf = (id: string) => `/personal-data/${encodeURIComponent(id)}`;
  return {
    get: (id, { signal } = {}) => http.read({ method: 'GET', path: pathOf(id), signal }),
    async erase(id, { dryRun = false, texts = [], signal } = {}) {
      // A text may hold a comma.
      const query = new URLSearchParams([['dryRun', String(dryRun)], ...texts.map((text) => ['text', text])]);
      await http.send({ method: 'DELETE', path: pathOf(id), query, signal });
    },
  };
}
