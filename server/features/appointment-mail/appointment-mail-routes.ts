// The office mails an appointment to the contact person, with an entry for their calendar.
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { countAttempt, hashSubject } from '../../access/attempts.ts';
import type { Database } from '../../database/database.ts';
import { type IdRoute, idOf, inTenantOf } from '../../engine/http/route-conventions.ts';
import { readJournalHead } from '../../engine/write/undo-log.ts';
import { ApiError, validationError } from '../../errors.ts';
import type { Notices } from '../../mail/notices.ts';
import { type AgreedAppointment, writeAppointmentMail } from './appointment-mail.ts';

/** Masked addresses of a test business might belong to somebody. */
const config = { config: { takesNoBody: true, business: 'OWN_OUTSIDE_TEST' } } as const;
/** In 15 minutes and for each business: Stamm must not be a way to send mail to strangers. */
const mostMails = 60;

export async function appointmentMailRoutes(
  app: FastifyInstance,
  { database, notices }: { database: Database; notices: Notices },
): Promise<void> {
  app.post<IdRoute>('/appointments/:id/mail', config, async (request, reply) => {
    if (!notices.hasMail) throw new ApiError('not_found');
    const id = idOf(request);
    const { tenantId } = request;
    const appointment = await inTenantOf(request, database, (client) => read(client, tenantId, id));
    if (!appointment) throw new ApiError('not_found');
    if (!appointment.email) throw validationError([{ path: ['contactPersonId', 'email'], code: 'required' }]);
    const subject = hashSubject('appointment mails', tenantId);
    const sent = await countAttempt(database, reply, subject, Number.POSITIVE_INFINITY);
    if (sent > mostMails) throw new ApiError('rate_limited');
    const mail = writeAppointmentMail({ ...appointment, email: appointment.email });
    notices.later(tenantId, async () => [mail]);
    reply.code(204);
  });
}

async function read(client: pg.ClientBase, tenantId: string, id: string) {
  const sequence = Number(await readJournalHead(client, tenantId));
  const { rows: tenants } = await client.query<{ name: string }>(
    'SELECT name FROM tenant WHERE tenant_id = $1',
    [tenantId],
  );
  const { rows } = await client.query<
    Omit<AgreedAppointment, 'email' | 'business' | 'sequence'> & { email: string | null }
  >(
    `SELECT appointment.id, appointment.status, appointment.date::text AS date,
       appointment.time_from, appointment.time_until, appointment.duration_in_minutes, appointment.updated_at,
       site.name AS site, site.time_zone, concat_ws(' ', site.address_street_name, site.address_house_number) AS street,
       site.address_zip_code AS zip_code, site.address_city AS city,
       contact_person.email, contact_person.language
     FROM appointment
     JOIN site ON site.tenant_id = appointment.tenant_id AND site.id = appointment.site_id
     LEFT JOIN contact_person ON contact_person.tenant_id = site.tenant_id
       AND contact_person.id = site.contact_person_id
     WHERE appointment.tenant_id = $1 AND appointment.id = $2`,
    [tenantId, id],
  );
  return rows[0] && { ...rows[0], business: tenants[0]?.name ?? '', sequence };
}
