// Codes that server and web app both know by name.

/** Reasons for an entry on the attention list. */
export const attentionCodes = [
  'unresolved_reference',
  'pending_reference',
  'unknown_shape',
  'half_position',
  'no_position',
  'probable_duplicate',
  'validity_ended',
  'closed_visit',
  'plan_failed',
  'no_employee',
  'unread_cell',
] as const;

export type AttentionCode = (typeof attentionCodes)[number];

/** Reasons why a webhook delivery got no answer. */
export type DeliveryError =
  | 'address_refused'
  | 'https_required'
  | 'real_business'
  | 'name_unknown'
  | 'certificate'
  | 'timeout'
  | 'connection_failed'
  | 'interrupted'
  | 'skipped';
