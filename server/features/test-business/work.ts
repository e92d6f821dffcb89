// Fills and empties test businesses in small steps. Each step is a transaction that also notes how far it got: any process
// goes on from there, and two of them never do the same step. The real business is only read.
import type pg from 'pg';
import { Pace } from '../../../core/pace.ts';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { representation } from '../../engine/read/representation.ts';
import type { Intent } from '../../engine/write/intent.ts';
import { parseStored } from '../../engine/write/merge-patch.ts';
import { retryRaces } from '../../engine/write/races.ts';
import { prepareWriting } from '../../engine/write/resource.ts';
import type { Statement } from '../../engine/write/statement-parts.ts';
import { writeObjects } from '../../engine/write/write.ts';
import { ApiError } from '../../errors.ts';
import { buildMask } from './masking.ts';
import { relatedNames } from './related-names.ts';
import { emptiedTables } from './tables.ts';
import type { Goal, Stage } from './test-business.ts';

const objectsPerStep = 100;
const rowsPerDeletion = 1000;
/** A step that empties goes on with further tables for this long. */
const emptyingMs = 200;

const author = { actor: 'test data', requestId: undefined };

/** How far a test business is. */
interface Position {
  realTenantId: string;
  goal: Goal;
  stage: Stage | null;
  resource: string | null;
  afterId: string | null;
}

/** `idle`: nothing is left to do. `busy`: somebody else is at it. */
export type StepOutcome = 'worked' | 'busy' | 'idle';

export type WorkStep = (testTenantId: string) => Promise<StepOutcome>;

export function buildWork(database: Database, resources: readonly Definition[]): WorkStep {
  const writing = prepareWriting(resources);
  const kinds = writing.resources.map((resource) => ({ resource, mask: buildMask(resource.definition) }));
  const tables = emptiedTables(resources);

  return async function work(id) {
    const position = await readPosition(database, id);
    if (!position?.stage) return 'idle';
    return position.stage === 'EMPTYING' ? empty(id, position) : fill(id, position);
  };

  async function fill(id: string, position: Position): Promise<StepOutcome> {
    if (position.resource === null) return begin(id, position);
    const place = kinds.findIndex(({ resource }) => resource.definition.name === position.resource);
    const kind = kinds[place]!;
    const { definition } = kind.resource;
    const rows = await readObjects(position, definition);
    const pace = new Pace();
    const intents: Intent[] = [];
    for (const row of rows) {
      intents.push(toIntent(id, kind, row));
      await pace.step();
    }
    const isLast = rows.length < objectsPerStep;
    const next = isLast
      ? { resource: kinds[place + 1]?.resource.definition.name, afterId: null }
      : { resource: position.resource, afterId: rows.at(-1)!.id };
    return retryRaces(() =>
      database.inTenants([id], async (client) => {
        if (!(await takeTurn(client, id, position))) return 'busy';
        const outcomes = [...(await writeObjects(client, writing, intents)).values()];
        const skipped = outcomes.filter((outcome) => outcome instanceof ApiError).length;
        await client.query(
          `UPDATE test_business SET resource = $2, after_id = $3, copied = copied + $4, skipped = skipped + $5,
             stage = CASE WHEN $2::text IS NULL THEN NULL ELSE stage END,
             ended_at = CASE WHEN $2::text IS NULL THEN now() END
           WHERE tenant_id = $1`,
          [id, next.resource ?? null, next.afterId, outcomes.length - skipped, skipped],
        );
        void database.noteWritten({ [definition.table]: outcomes.length - skipped });
        return 'worked';
      }),
    );
  }

  /** Counts what is to come. */
  async function begin(id: string, position: Position): Promise<StepOutcome> {
    let total = 0;
    for (const { table } of resources) {
      const { rows } = await database.queryInTenants<{ count: number }>([position.realTenantId], {
        text: `SELECT count(*)::integer AS count FROM ${table} WHERE tenant_id = $1`,
        values: [position.realTenantId],
      });
      total += rows[0]!.count;
    }
    return database.inTenants([id], async (client) => {
      if (!(await takeTurn(client, id, position))) return 'busy';
      await client.query('UPDATE test_business SET resource = $2, total = $3 WHERE tenant_id = $1', [
        id,
        resources[0]!.name,
        total,
      ]);
      return 'worked';
    });
  }

  async function readObjects({ realTenantId, afterId }: Position, definition: Definition) {
    const { rows } = await database.queryInTenants<Copied>([realTenantId], {
      ...copiedObjects(definition, resources),
      values: [realTenantId, afterId ?? '00000000-0000-0000-0000-000000000000'],
    });
    return rows;
  }

  async function empty(id: string, position: Position): Promise<StepOutcome> {
    const until = performance.now() + emptyingMs;
    return database.inTenants([id], async (client) => {
      if (!(await takeTurn(client, id, position))) return 'busy';
      let place = Math.max(0, tables.indexOf(position.resource ?? ''));
      do {
        const deleted = await deleteRows(client, id, tables[place]!);
        if (deleted === 'in use') place = 0;
        else if (deleted < rowsPerDeletion) place++;
      } while (place < tables.length && performance.now() < until);
      if (place < tables.length)
        await client.query('UPDATE test_business SET resource = $2 WHERE tenant_id = $1', [
          id,
          tables[place],
        ]);
      else await endEmptying(client, id, position);
      return 'worked';
    });
  }
}

type Kind = { resource: Intent['resource']; mask: ReturnType<typeof buildMask> };

interface Copied {
  id: string;
  json: string;
  names: (string | null)[];
}

/** The next objects that a test business copies. */
export function copiedObjects(definition: Definition, resources: readonly Definition[]): Statement {
  return {
    name: `test data ${definition.name}`,
    text: `SELECT subject.id, ${representation(definition, 'subject')} AS json, ${relatedNames(definition, resources)} AS names
      FROM ${definition.table} AS subject
      WHERE subject.tenant_id = $1 AND subject.id > $2 ORDER BY subject.id LIMIT ${objectsPerStep}`,
  };
}

/** Objects keep their ids, so everything that refers to one still does. */
function toIntent(tenantId: string, { resource, mask }: Kind, { id, json, names }: Copied): Intent {
  const checked = resource.check(mask(id, parseStored(json), names));
  return {
    resource,
    tenantId,
    author,
    name: { id },
    sent: checked.row,
    mayRevive: true,
    mayWait: false,
    decide(current) {
      // Merged in the test business: the object that is left is another one.
      if (current?.isFormerName) throw new ApiError('merged_object', { details: { id: current.id } });
      return checked;
    },
  };
}

async function readPosition(database: Database, id: string): Promise<Position | undefined> {
  const { rows } = await database.queryInTenants<Position>([id], {
    text: `SELECT ${positionColumns} FROM test_business WHERE tenant_id = $1`,
    values: [id],
  });
  return rows[0];
}

const positionColumns = 'real_tenant_id AS "realTenantId", goal, stage, resource, after_id AS "afterId"';

/** Locks the position, unless somebody else works on it or has moved it. */
async function takeTurn(client: pg.ClientBase, id: string, position: Position): Promise<boolean> {
  const { goal, stage, resource, afterId } = position;
  const { rowCount } = await client.query(
    `SELECT FROM test_business WHERE tenant_id = $1 AND goal = $2 AND stage = $3 AND resource IS NOT DISTINCT FROM $4
       AND after_id IS NOT DISTINCT FROM $5 FOR UPDATE SKIP LOCKED`,
    [id, goal, stage, resource, afterId],
  );
  return rowCount === 1;
}

const foreignKeyViolation = '23503';

/** `in use`: somebody has just stored something that belongs to one of the rows. */
async function deleteRows(client: pg.ClientBase, id: string, table: string): Promise<number | 'in use'> {
  await client.query('SAVEPOINT deletion');
  try {
    const { rowCount } = await client.query(
      `DELETE FROM ${table} WHERE tenant_id = $1
         AND ctid = ANY (ARRAY(SELECT one.ctid FROM ${table} AS one WHERE one.tenant_id = $1 LIMIT ${rowsPerDeletion}))`,
      [id],
    );
    await client.query('RELEASE SAVEPOINT deletion');
    return rowCount ?? 0;
  } catch (error) {
    if ((error as { code?: string }).code !== foreignKeyViolation) throw error;
    await client.query('ROLLBACK TO SAVEPOINT deletion');
    return 'in use';
  }
}

async function endEmptying(client: pg.ClientBase, id: string, { goal }: Position): Promise<void> {
  if (goal === 'REMOVED') {
    await client.query('DELETE FROM journal_head WHERE tenant_id = $1', [id]);
    await client.query('SELECT remove_test_business($1)', [id]);
    return;
  }
  // What was read before holds no more.
  await client.query('UPDATE journal_head SET last_position = last_position + 1 WHERE tenant_id = $1', [id]);
  await client.query(
    `UPDATE test_business SET stage = CASE WHEN goal = 'FILLED' THEN 'FILLING' END, resource = NULL,
       ended_at = CASE WHEN goal = 'EMPTY' THEN now() END
     WHERE tenant_id = $1`,
    [id],
  );
}
