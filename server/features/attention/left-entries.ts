// Entries that the office has looked at and left as they are. They come back when the check finds something else.
import type { AttentionCheck } from '../../engine/sql/attention-checks.ts';

/** Hashed: a finding may be an address or a foreign id. */
export function hashedFinding({ finding }: AttentionCheck): string {
  return `md5(concat(${finding}))`;
}

/** FROM and WHERE of the row that leaves the entry of "subject" as it is. Names come from definitions. */
export function leftEntry(check: AttentionCheck): string {
  const { resource, field, code } = check;
  return `FROM left_attention AS left_entry WHERE left_entry.tenant_id = subject.tenant_id
    AND left_entry.resource = '${resource}' AND left_entry.object_id = subject.id AND left_entry.field = '${field}'
    AND left_entry.code = '${code}' AND left_entry.finding = ${hashedFinding(check)}`;
}
