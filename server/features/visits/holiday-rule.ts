// What the business does with visits on public holidays: a setting of the office.
import type { FastifyInstance } from 'fastify';
import { type HolidayRule, holidayRules } from '../../../core/visit-plan.ts';
import { recordAudit } from '../../auth/audit-log.ts';
import { oneOf, readForm } from '../../auth/form.ts';
import type { Database } from '../../database/database.ts';
import { refuseUnknownParameters } from '../../http/conventions.ts';

export async function readHolidayRule(
  database: Database,
  { tenantId, deadline }: { tenantId: string; deadline: number },
): Promise<HolidayRule> {
  const { rows } = await database.queryInTenants<{ holiday_rule: HolidayRule }>(
    [tenantId],
    { text: 'SELECT holiday_rule FROM tenant WHERE tenant_id = $1', values: [tenantId] },
    { deadline },
  );
  return rows[0]!.holiday_rule;
}

export async function visitSettingRoutes(
  app: FastifyInstance,
  { database }: { database: Database },
): Promise<void> {
  app.get('/visit-settings', async (request) => {
    refuseUnknownParameters(request, []);
    return { holidayRule: await readHolidayRule(database, request) };
  });

  app.put('/visit-settings', { config: { access: 'VERWALTUNG' } }, async (request) => {
    const { holidayRule } = readForm(request, { holidayRule: oneOf(holidayRules) });
    const { tenantId, deadline } = request;
    await database.inTenants(
      [tenantId],
      async (client) => {
        const { rowCount } = await client.query(
          'UPDATE tenant SET holiday_rule = $2 WHERE tenant_id = $1 AND holiday_rule <> $2',
          [tenantId, holidayRule],
        );
        if (rowCount === 1)
          await recordAudit(client, tenantId, request, {
            event: 'SETTINGS_CHANGED',
            details: { holidayRule },
          });
      },
      { deadline },
    );
    return { holidayRule };
  });
}
