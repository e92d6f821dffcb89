// Shapes of the sample data.
import type { KindName } from './kinds.ts';
import type { SeededChoice } from './seeded-choice.ts';

export interface DemoCustomer {
  name: string;
  kind: KindName;
  /** Of its e-mail addresses, below .example. */
  domain: string;
  /** "Street number, code city (latitude, longitude)" */
  at: string;
  comment?: string;
  /** Names of sites at that address, or with an address of their own. */
  sites: readonly (string | readonly [name: string, at: string])[];
}

export type Body = { externalId: string; [field: string]: unknown };

/** The bodies by resource. */
export type Business = Record<string, Body[]>;

export interface Making {
  choice: SeededChoice;
  /** The id that the object with this external id has or will have. */
  idOf: (externalId: string) => string;
  today: Temporal.PlainDate;
}
