// What somebody wants to write, and what becomes of it.
import type { ApiError } from '../../errors.ts';
import type { Author } from '../../http/conventions.ts';
import type { Checked, Row } from '../definition/validation.ts';
import type { Deleted, Stored } from '../sql/rows.ts';
import type { Since } from './changes-since.ts';
import type { WrittenResource } from './resource.ts';

export type ObjectName = { id: string } | { externalId: string };

export interface Intent {
  resource: WrittenResource;
  tenantId: string;
  author: Author;
  /** The object that it concerns. A creation has none: its external id must be free. */
  name: ObjectName | undefined;
  /** What the body refers to, and its unique values. They are looked up before anything is decided. */
  sent: Row;
  /** The version that the sender of a change has read. */
  since?: number | undefined;
  deletion?: { isCascade: boolean } | undefined;
  /** Whether it creates an object whose external id is in the bin. */
  mayRevive: boolean;
  /** Whether it waits for an owner, or for the deletion of dependants, that a later intent brings. */
  mayWait: boolean;
  /** Whether the object is answered, beside its id. */
  wantsObject?: boolean;
  /** What the object becomes; throws an ApiError that refuses the intent. Not called for a deletion. */
  decide(current: Stored | undefined, since: Since | undefined): Checked;
}

export type Outcome =
  | {
      what: 'created' | 'changed' | 'unchanged' | 'deleted';
      id: string;
      version: number;
      /** As it is answered, for an intent that wants it. */
      json?: string | undefined;
      /** What a cascade deleted. */
      deleted?: readonly Deleted[];
    }
  | ApiError;
