// Intents: the writes that somebody wants, and their outcomes.
import type { ApiError } from '../../errors.ts';
import type { Author } from '../../http/conventions.ts';
import type { Checked, Row } from '../definition/validation.ts';
import type { Since } from './changes-since.ts';
import type { WrittenResource } from './resource.ts';
import type { Deleted, Stored } from './rows.ts';

export type ObjectName = { id: string } | { externalId: string };

/** An Idempotency-Key, and what was sent with it. */
export interface Claim {
  /** A hash: a key may name a person, and must stay taken after an erasure. */
  key: string;
  fingerprint: string;
  /** Whether nobody else can send it at the same time. A large import would need too many locks. */
  isAlone?: boolean;
}

export interface Intent {
  resource: WrittenResource;
  tenantId: string;
  author: Author;
  /** The object that it concerns. A creation has none: its external id must be free. */
  name: ObjectName | undefined;
  /** References and unique values in the body. They are looked up before anything is decided. */
  sent: Row;
  /** The new object, independent of the stored one. The database says whether they differ. */
  whole?: Checked | undefined;
  /** The version that the sender of a change has read. */
  since?: number | undefined;
  deletion?: { isCascade: boolean } | undefined;
  /** The object gets a greater version than this one, even if nothing differs. */
  above?: number | undefined;
  /** Set for a creation that brings an object back: its id and version in the bin. */
  restored?: { id: string; version: number } | undefined;
  /** Whether it creates an object whose external id is in the bin. */
  mayRevive: boolean;
  /** Whether it waits for an owner, or for the deletion of dependants, that a later intent brings. */
  mayWait: boolean;
  /** Whether the answer holds the object, and not only its id. */
  wantsObject?: boolean;
  /** Its Idempotency-Key, taken in the transaction that writes the object. */
  claim?: Claim | undefined;
  /** Throws an ApiError where the sender does not want to write over this version, or over nothing. */
  demand?(current: { version: number } | undefined): void;
  /** Returns the new object, undefined for a deletion. Throws an ApiError that rejects the intent. */
  decide(current: Stored | undefined, since: Since | undefined): Checked | undefined;
}

export interface Written {
  /** `repeated`: an earlier intent with the same Idempotency-Key has written it. */
  what: 'created' | 'changed' | 'unchanged' | 'deleted' | 'repeated';
  id: string;
  /** 0 if it is unknown, for a repeated intent. */
  version: number;
  /** The object as it is returned, for an intent that wants it. */
  json?: string | undefined;
  /** Objects that a cascade deleted. */
  deleted?: readonly Deleted[];
}

export type Outcome = Written | ApiError;
