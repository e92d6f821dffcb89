// The client of the Stamm API.
import type { components } from './api-types.ts';
import { type Changes, openChanges } from './changes.ts';
import { type Collection, openCollection } from './collection.ts';
import { openWebhooks, type Webhooks } from './endpoints.ts';
import { openHttp, type StammOptions } from './http.ts';
import { type Import, openImport } from './import.ts';
import {
  type AttentionEntry,
  type AttentionQuery,
  type DeletedObject,
  type DeletedQuery,
  type List,
  openList,
  openSearch,
  type QueryOf,
  type Search,
  type Visits,
} from './lists.ts';
import { openPersonalData, type PersonalData } from './personal-data.ts';

export type { components, operations, paths } from './api-types.ts';
export type { Change, ChangePage, ChangeQuery, Changes, CursorStore, FollowOptions } from './changes.ts';
export type {
  ChangeOptions,
  Collection,
  CreateOptions,
  DeleteOptions,
  Deletion,
  DryRun,
  DuplicatesMerge,
  ExportFormat,
  GetOptions,
  MergeOptions,
  MergeRequest,
  Reference,
  Restoration,
  WriteOptions,
} from './collection.ts';
export type { NewWebhook, Webhook, WebhookPatch, Webhooks } from './endpoints.ts';
export { type ErrorCode, type FieldError, StammError } from './error.ts';
export type { Chosen, FieldPath } from './fields.ts';
export type { CallOptions, StammOptions, StammResponse } from './http.ts';
export type {
  ImportLine,
  ImportLines,
  ImportOptions,
  ImportResult,
  ImportRun,
  ImportSummary,
} from './import.ts';
export type {
  AttentionEntry,
  AttentionQuery,
  DeletedObject,
  DeletedQuery,
  List,
  Page,
  Search,
  SearchQuery,
  SearchResults,
  Visit,
  VisitQuery,
  Visits,
} from './lists.ts';
export type { EraseOptions, PersonalData } from './personal-data.ts';
export { verifyWebhook, WebhookError, type WebhookEvent, type WebhookRequest } from './webhooks.ts';

type Schemas = components['schemas'];

type KindOf<Name extends keyof Schemas, Query> = {
  item: Schemas[Name];
  new: Schemas[`New${Name}` & keyof Schemas];
  patch: Schemas[`${Name}Patch` & keyof Schemas];
  query: Query;
};

export interface Stamm {
  customers: Collection<KindOf<'Customer', QueryOf<'listCustomers'>>>;
  contactPersons: Collection<KindOf<'ContactPerson', QueryOf<'listContactPersons'>>>;
  contracts: Collection<KindOf<'Contract', QueryOf<'listContracts'>>>;
  employees: Collection<KindOf<'Employee', QueryOf<'listEmployees'>>>;
  products: Collection<KindOf<'Product', QueryOf<'listProducts'>>>;
  sites: Collection<KindOf<'Site', QueryOf<'listSites'>>>;
  containers: Collection<KindOf<'Container', QueryOf<'listContainers'>>>;
  plants: Collection<KindOf<'Plant', QueryOf<'listPlants'>>>;
  appointments: Collection<KindOf<'Appointment', QueryOf<'listAppointments'>>>;
  absences: Collection<KindOf<'Absence', QueryOf<'listAbsences'>>>;
  visits: Visits;
  /** The bin: what was deleted in the last 30 days. `restore` of the collection brings it back. */
  deleted: List<DeletedObject, DeletedQuery>;
  /** Data that is stored as sent but looks wrong, duplicates among it. */
  attention: List<AttentionEntry, AttentionQuery>;
  search: Search;
  changes: Changes;
  import: Import;
  personalData: PersonalData;
  webhooks: Webhooks;
}

export function createStamm(options: StammOptions): Stamm {
  const http = openHttp(options);
  return {
    customers: openCollection(http, 'customers', '/customer'),
    contactPersons: openCollection(http, 'contact-persons', '/customer/contact-person'),
    contracts: openCollection(http, 'contracts', '/customer/contract'),
    employees: openCollection(http, 'employees', '/employee'),
    products: openCollection(http, 'products', '/product'),
    sites: openCollection(http, 'sites', '/customer/site'),
    containers: openCollection(http, 'containers', '/customer/site/container'),
    plants: openCollection(http, 'plants', '/customer/site/plant'),
    appointments: openCollection(http, 'appointments', '/customer/site/appointment'),
    absences: openCollection(http, 'absences', '/employee/absence'),
    visits: openList(http, '/visits'),
    deleted: openList(http, '/deleted'),
    attention: openList(http, '/attention'),
    search: openSearch(http),
    changes: openChanges(http),
    import: openImport(http),
    personalData: openPersonalData(http),
    webhooks: openWebhooks(http),
  };
}
