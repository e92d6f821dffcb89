// Codes of the API that the web app knows by name.

/** Why something is on the attention list. */
export const attentionCodes = [
  'unresolved_reference',
  'pending_reference',
  'unknown_shape',
  'half_position',
  'no_position',
  'probable_duplicate',
  'validity_ended',
  'closed_visit',
  'no_employee',
] as const;

export type AttentionCode = (typeof attentionCodes)[number];
