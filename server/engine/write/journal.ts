// The journal's SQL: writes entries with their rows, and reads them.
import type { Definition } from '../definition/definition.ts';
import { timestamp } from '../read/representation.ts';

/** Nobody becomes a key by calling themselves one: people have ids. Entries older than those have only the name. */
export function actorTypeOf(alias: string): string {
  return `CASE WHEN ${alias}.actor_id IS NOT NULL THEN 'PERSON'
    WHEN starts_with(${alias}.actor, 'key …') THEN 'KEY'
    WHEN ${alias}.actor IN ('command line', 'demo', 'test data') THEN 'COMMAND_LINE' ELSE 'PERSON' END`;
}

/** A member of a tombstone: the object that the deleted one was merged into. */
export const mergedInto = `'"mergedInto":' || CASE WHEN entry.action = 'DELETED' THEN (SELECT to_json(former.id)
    FROM former_id AS former WHERE former.tenant_id = entry.tenant_id AND former.former_id = entry.resource_id) END`;

/** An entry of the journal as JSON, over the table named "entry". */
export const entryRepresentation = `'{' || concat_ws(',',   '"cursor":"' || entry.position || '"',
  '"at":' || ${timestamp('entry.at')},
  '"resource":' || to_json(entry.resource),
  '"id":' || to_json(entry.resource_id),
  '"externalId":' || to_json(entry.external_id),
  '"action":' || to_json(entry.action),
  '"version":' || entry.version,
  '"actor":' || to_json(entry.actor),
  '"actorId":' || to_json(entry.actor_id),
  '"actorType":"' || ${actorTypeOf('entry')} || '"',
  '"requestId":' || to_json(entry.request_id),
  '"origin":' || to_json(entry.origin),
  ${mergedInto},
  '"changes":' || entry.changes::text) || '}'`;

/**
 * Journal entries for those of the sent rows that are in `written`. The heads stay locked until the commit: positions
 * follow commit order without gaps. The order of tenant_id avoids deadlocks. Each head exists, so the INSERT always
 * ends in its ON CONFLICT, which finds heads by their key. The planner of an UPDATE may read those of all tenants. A
 * hash finds the rows: the planner expects one row and would compare each of 500 with all others.
 */
export function journalled(definition: Definition, action: 'CREATED' | 'CHANGED' | 'DELETED'): string {
  return `
    moved AS (
      INSERT INTO journal_head AS head (tenant_id, last_position)
      SELECT tenant_id, count(*) FROM written GROUP BY tenant_id ORDER BY tenant_id
      ON CONFLICT (tenant_id) DO UPDATE SET last_position = head.last_position + excluded.last_position
      RETURNING head.tenant_id, head.last_position
    ), journalled AS (
      INSERT INTO journal (tenant_id, position, resource, resource_id, external_id, action, version, actor, actor_id, request_id, origin, changes)
      SELECT entry.tenant_id,
        moved.last_position + 1 - row_number() OVER (PARTITION BY entry.tenant_id ORDER BY entry.id DESC),
        '${definition.name}', entry.id, entry.external_id, '${action}', coalesce(entry.version, 1),
        entry.actor, entry.actor_id, entry.request_id, entry.origin, entry.changes
      FROM sent AS entry JOIN moved USING (tenant_id)
      WHERE (entry.id IN (SELECT id FROM written)) IS TRUE
    )`;
}
