// Some changes need a recent proof of identity: an open browser alone must not be enough for them.
import type pg from 'pg';
import { ApiError } from '../errors.ts';
import type { Session } from './sessions.ts';

const maxProofAgeSeconds = 10 * 60;

export function demandRecentProof({ proofAgeSeconds }: Session): void {
  if (proofAgeSeconds > maxProofAgeSeconds) throw new ApiError('proof_required');
}

/** In a transaction of the business. */
export async function renewProof(client: pg.ClientBase, { tenantId, id }: Session): Promise<void> {
  await client.query('UPDATE session SET proved_at = now() WHERE tenant_id = $1 AND id = $2', [tenantId, id]);
}
