// What the office decides about visits: what happens on public holidays, and where tours begin.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type HolidayRule, holidayRules } from '../../../core/calendar/visit-plan.ts';
import { findApproximatePosition, type Position } from '../../../core/place/postcodes.ts';
import { recordAudit } from '../../access/audit-log.ts';
import { type Input, oneOf, optional, readForm, words } from '../../access/form.ts';
import type { Database } from '../../database/database.ts';
import { refuseUnknownParameters } from '../../http/conventions.ts';

export interface StartAddress {
  street: string;
  zipCode: string;
  city: string;
  location?: Position;
}

function degrees(max: number): Input<number | undefined> {
  return optional({
    isRequired: true,
    read: (value) =>
      typeof value === 'number' && Math.abs(value) <= max
        ? { value }
        : { code: 'out_of_range', params: { min: -max, max } },
  });
}

const startForm = {
  street: words(200),
  zipCode: words(20),
  city: words(100),
  lat: degrees(90),
  lng: degrees(180),
};

export async function visitSettingRoutes(
  app: FastifyInstance,
  { database }: { database: Database },
): Promise<void> {
  app.get('/visit-settings', async (request) => {
    refuseUnknownParameters(request, []);
    const { tenantId, deadline } = request;
    const { rows } = await database.queryInTenants<{ holidayRule: HolidayRule; startAddress: StartAddress }>(
      [tenantId],
      {
        text: `SELECT holiday_rule AS "holidayRule", start_address AS "startAddress" FROM tenant WHERE tenant_id = $1`,
        values: [tenantId],
      },
      { deadline },
    );
    const { holidayRule, startAddress } = rows[0]!;
    const approximateLocation =
      startAddress && !startAddress.location && findApproximatePosition(startAddress);
    return {
      holidayRule,
      startAddress: startAddress && { ...startAddress, ...(approximateLocation && { approximateLocation }) },
    };
  });

  /** An address without a position begins in the middle of its postcode. */
  app.put('/visit-settings/start-address', async (request) => {
    const { lat, lng, ...address } = readForm(request, startForm);
    const location = lat !== undefined && lng !== undefined ? { lat, lng } : undefined;
    await storeStart(request, { ...address, ...(location && { location }) });
    return {};
  });

  app.delete('/visit-settings/start-address', { config: { takesNoBody: true } }, async (request, reply) => {
    await storeStart(request, null);
    reply.code(204);
  });

  async function storeStart(request: FastifyRequest, address: StartAddress | null): Promise<void> {
    const { tenantId, deadline } = request;
    await database.inTenants(
      [tenantId],
      async (client) => {
        await client.query('UPDATE tenant SET start_address = $2 WHERE tenant_id = $1', [tenantId, address]);
        const startAddress = address && `${address.street}, ${address.zipCode} ${address.city}`;
        await recordAudit(client, tenantId, request, {
          event: 'SETTINGS_CHANGED',
          details: { startAddress },
        });
      },
      { deadline },
    );
  }

  app.put('/visit-settings', async (request) => {
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
