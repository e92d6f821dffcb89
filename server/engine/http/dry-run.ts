// Adds what every dry run says to the answer that the write itself would give.
import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { languageOf } from '../../http/conventions.ts';
import { type AttentionEntry, attentionChecksOf } from '../attention/attention-checks.ts';
import { findAttentionOf } from '../attention/attention-findings.ts';
import type { Definition } from '../definition/definition.ts';

interface DryRunNotes {
  dryRun: true;
  attention: AttentionEntry[];
  ignoredFields: readonly string[];
}

/** Reports a dry run of a write that leaves no object to look at. */
export function noteDryRun(ignoredFields: readonly string[] = []): DryRunNotes {
  return { dryRun: true, attention: [], ignoredFields };
}

/** Looks at the object in the transaction that is taken back. */
export function buildDryRunNotes(definition: Definition) {
  const checks = attentionChecksOf(definition);
  return async (
    client: pg.ClientBase,
    request: FastifyRequest,
    id: string,
    ignoredFields: readonly string[] = [],
  ): Promise<DryRunNotes> => {
    const row = { tenant_id: request.tenantId, id };
    const attention = await findAttentionOf(client, checks, row, languageOf(request), request.log);
    return { dryRun: true, attention, ignoredFields };
  };
}
