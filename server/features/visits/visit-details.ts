// What a page adds to its visits: names, addresses and phone numbers, read together.
import type { Database } from '../../database/database.ts';
import type { SiteVisit } from './visit-page.ts';
import type { VisitInclusion } from './visit-request.ts';

interface Source {
  table: string;
  /** SQL for the object that is added; null members are left out. */
  json: string;
  idOf(found: SiteVisit): string | undefined;
}

/** Addresses have no longest length; a list of visits shows their beginning. */
const start = (column: string) => `left(subject.${column}, 200)`;

const sources = {
  site: {
    table: 'site',
    json: `json_build_object('name', subject.name, 'address', json_build_object(
        'streetName', ${start('address_street_name')}, 'houseNumber', ${start('address_house_number')},
        'zipCode', ${start('address_zip_code')}, 'city', ${start('address_city')},
        'location', CASE WHEN subject.address_location_lat IS NOT NULL AND subject.address_location_lng IS NOT NULL
          THEN json_build_object('lat', subject.address_location_lat, 'lng', subject.address_location_lng) END),
      'hasKey', subject.has_key, 'needsAppointment', subject.needs_appointment, 'comment', subject.comment)`,
    idOf: ({ site }) => site.id,
  },
  customer: {
    table: 'customer',
    json: `json_build_object('companyName', subject.company_name, 'phone', subject.phone)`,
    idOf: ({ site }) => site.customerId,
  },
  employee: {
    table: 'employee',
    json: `json_build_object('firstName', subject.first_name, 'lastName', subject.last_name, 'active', subject.active)`,
    idOf: ({ employeeId }) => employeeId,
  },
  contactPerson: {
    table: 'contact_person',
    json: `json_build_object('firstName', subject.first_name, 'lastName', subject.last_name,
      'phone', subject.phone, 'mobile', subject.mobile, 'email', subject.email)`,
    idOf: ({ site }) => site.contactPersonId,
  },
} satisfies Record<string, Source>;

type SourceName = keyof typeof sources;

export interface Detail {
  externalId: string | null;
  json: Record<string, unknown>;
}

export type Details = (name: SourceName, found: SiteVisit) => Detail | undefined;

/** Employees are read for each page: one who is gone or not active is a conflict. */
export async function readDetails(
  database: Database,
  { tenantId, deadline }: { tenantId: string; deadline: number },
  visits: readonly SiteVisit[],
  inclusions: ReadonlySet<VisitInclusion>,
): Promise<Details> {
  const isWanted = (name: SourceName) =>
    name === 'employee' ||
    inclusions.has(name) ||
    (inclusions.has('externalIds') && name !== 'contactPerson');
  const names = (Object.keys(sources) as SourceName[]).filter(isWanted);
  const found = new Map<SourceName, Map<string, Detail>>();
  await Promise.all(
    names.map(async (name) => {
      const source: Source = sources[name];
      const ids = [...new Set(visits.flatMap((visit) => source.idOf(visit) ?? []))];
      found.set(name, ids.length === 0 ? new Map() : await readSource(source, ids));
    }),
  );

  async function readSource({ table, json }: Source, ids: string[]): Promise<Map<string, Detail>> {
    const { rows } = await database.queryInTenants<Detail & { id: string }>(
      [tenantId],
      {
        text: `SELECT subject.id, subject.external_id AS "externalId", json_strip_nulls(${json}) AS json FROM ${table} AS subject
          WHERE subject.tenant_id = $1 AND subject.id = ANY ($2::uuid[])`,
        values: [tenantId, ids],
      },
      { deadline },
    );
    return new Map(rows.map(({ id, ...detail }) => [id, detail]));
  }

  return (name, visit) => {
    const id = sources[name].idOf(visit);
    return id === undefined ? undefined : found.get(name)?.get(id);
  };
}
