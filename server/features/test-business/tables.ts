// Tables that a reset of a test business empties. A test fails for a table that is in neither list.
import type { Definition } from '../../engine/definition/definition.ts';

/** Rows that depend on others come first. */
export function emptiedTables(resources: readonly Definition[]): string[] {
  return [
    'position_proposal',
    ...resources.map(({ table }) => table).reverse(),
    'search_word',
    'deleted_object',
    'former_id',
    'former_external_id',
    'missing_words',
    'waiting_link',
    'journal',
    'idempotent_request',
    'import_chunk',
    'import_kept',
    'import_run',
    'remembered_name',
    'remembered_choice',
    'left_attention',
    'attention_verdict',
    'corrected_request',
    'recorded_request',
    'request_hour',
    'request_erasure',
    'webhook_delivery',
  ];
}

/** Tables that a reset keeps, and why. */
export const keptTables: Readonly<Record<string, string>> = {
  tenant: 'the test business itself',
  test_business: 'says how far the reset is',
  journal_head: 'positions go on, so the cursor of a reader stays valid',
  api_key: 'the integration under test goes on',
  ended_key_use: 'explains a 401',
  webhook: 'the integration under test goes on',
  calendar_feed: 'its subject comes back with the same id',
  audit_entry: 'security events are never deleted by a reset',
  checklist: 'holds no data',
  request_window: 'counts one minute',
  person: 'people belong to the real business',
  session: 'people belong to the real business',
  pending_sign_in: 'people belong to the real business',
  password_reset: 'people belong to the real business',
  invitation: 'people belong to the real business',
  known_device: 'people belong to the real business',
  passkey: 'people belong to the real business',
  recovery_code: 'people belong to the real business',
  saved_view: 'views belong to people of the real business',
};
