// The rows that writes take and return.
import type { JsonBody } from '../../http/json-body.ts';
import type { Row } from '../definition/validation.ts';

export interface NewRow extends Row {
  tenant_id: string;
  id: string;
}

/** A row of the table as it is returned. */
export interface Stored {
  id: string;
  version: number;
  json: string;
  /** `json` as it was parsed, if somebody has done so. */
  body?: JsonBody;
  /** Whether the name that found it belonged to an object that was merged into this one. */
  isFormerName?: boolean;
}

export interface Deleted {
  resource: string;
  ids: readonly string[];
}
