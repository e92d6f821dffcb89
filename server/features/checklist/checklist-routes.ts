// The first steps of a new business, derived from its data and calls.
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { optional, readForm, yes } from '../../access/form.ts';
import { report } from '../../database/background.ts';
import type { Database } from '../../database/database.ts';
import { timeOfUuid } from '../../engine/definition/formats.ts';

export async function checklistRoutes(app: FastifyInstance, { database }: { database: Database }) {
  app.get('/checklist', { config: { isHeavyRead: true } }, async ({ tenantId, deadline }) =>
    database.inTenants([tenantId], (client) => readChecklist(client, tenantId), { deadline }),
  );

  app.patch('/checklist', async (request) => {
    const { tenantId, deadline } = request;
    const { hasCopiedCall, isDismissed } = readForm(request, {
      hasCopiedCall: optional(yes),
      isDismissed: optional(yes),
    });
    return database.inTenants(
      [tenantId],
      async (client) => {
        await client.query(
          `INSERT INTO checklist AS known (tenant_id, has_copied_call, is_dismissed) VALUES ($1, $2, $3)
             ON CONFLICT (tenant_id) DO UPDATE SET
               has_copied_call = known.has_copied_call OR excluded.has_copied_call,
               is_dismissed = known.is_dismissed OR excluded.is_dismissed`,
          [tenantId, hasCopiedCall ?? false, isDismissed ?? false],
        );
        return readChecklist(client, tenantId);
      },
      { deadline },
    );
  });
}

interface ChecklistRow {
  hasKey: boolean;
  hasColleague: boolean;
  hasCopiedCall: boolean | null;
  hasImport: boolean | null;
  isDismissed: boolean | null;
  firstRequest: object | null;
}

async function readChecklist(client: pg.ClientBase, tenantId: string) {
  const { rows } = await client.query<ChecklistRow>(
    `SELECT EXISTS (SELECT FROM api_key WHERE tenant_id = $1 AND ended_at IS NULL) AS "hasKey",
       EXISTS (SELECT FROM person WHERE tenant_id = $1 OFFSET 1)
         OR EXISTS (SELECT FROM invitation WHERE tenant_id = $1) AS "hasColleague",
       known.has_copied_call AS "hasCopiedCall", known.has_import AS "hasImport",
       known.is_dismissed AS "isDismissed", known.first_request AS "firstRequest"
     FROM tenant LEFT JOIN checklist AS known ON known.tenant_id = tenant.tenant_id WHERE tenant.tenant_id = $1`,
    [tenantId],
  );
  const row = rows[0]!;
  return {
    hasKey: row.hasKey,
    hasCopiedCall: row.hasCopiedCall ?? false,
    firstRequest: row.firstRequest ?? (await findFirstRequest(client, tenantId)),
    hasImport: row.hasImport ?? false,
    hasColleague: row.hasColleague,
    isDismissed: row.isDismissed ?? false,
  };
}

/** Remembers it, because the record of calls forgets; without an external id, which may be a person's to erase. */
async function findFirstRequest(client: pg.ClientBase, tenantId: string): Promise<object | null> {
  const { rows } = await client.query<{ id: string; method: string; path: string; status: number }>(
    `SELECT id, method, CASE WHEN strpos(route, '/by-external-id/') > 0 THEN route ELSE path END AS path, status
     FROM recorded_request WHERE tenant_id = $1 ORDER BY id LIMIT 1`,
    [tenantId],
  );
  if (!rows[0]) return null;
  const { id, ...call } = rows[0];
  const first = { at: new Date(timeOfUuid(id)), ...call };
  await client.query(
    `INSERT INTO checklist (tenant_id, first_request) VALUES ($1, $2)
     ON CONFLICT (tenant_id) DO UPDATE SET first_request = excluded.first_request`,
    [tenantId, JSON.stringify(first)],
  );
  return first;
}

/** After an import that stored something, from the API, the office or the command line. */
export async function noteImport(database: Database, tenantId: string): Promise<void> {
  await report('checklist', () =>
    database.queryInTenants([tenantId], {
      text: `INSERT INTO checklist (tenant_id, has_import) VALUES ($1, true)
        ON CONFLICT (tenant_id) DO UPDATE SET has_import = true`,
      values: [tenantId],
    }),
  );
}
