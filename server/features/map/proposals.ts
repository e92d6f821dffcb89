// Positions that the geocoder proposes: open questions, its answers, and the office's decisions.
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import type { GeocoderAnswer, StreetAddress } from './geocoder.ts';

const addressHash = `md5(concat_ws(E'\\n', site.address_street_name, site.address_house_number, site.address_zip_code, site.address_city))`;
const hasNoPosition = 'site.address_location_lat IS NULL AND site.address_location_lng IS NULL';

/** Most rows that one statement looks through. */
const scannedSites = 500;

export interface SiteToAsk extends StreetAddress {
  id: string;
  addressHash: string;
}

/** The next site after `after`, in the order of ids, that has no position and an address not asked for. */
export async function findSiteToAsk(
  database: Database,
  tenantId: string,
  after: string,
): Promise<SiteToAsk | undefined> {
  for (let from: string | null = after; from !== null; ) {
    const { rows }: { rows: (SiteToAsk & { isAsked: boolean })[] } = await database.queryInTenants(
      [tenantId],
      {
        text: `SELECT site.id, site.address_street_name AS "streetName", site.address_house_number AS "houseNumber",
          site.address_zip_code AS "zipCode", site.address_city AS city, ${addressHash} AS "addressHash",
          EXISTS (SELECT FROM position_proposal AS proposal WHERE proposal.tenant_id = $1
            AND proposal.site_id = site.id AND proposal.address_hash = ${addressHash}) AS "isAsked"
        FROM site WHERE site.tenant_id = $1 AND ${hasNoPosition} AND site.id > $2
        ORDER BY site.id LIMIT ${scannedSites}`,
        values: [tenantId, from],
      },
    );
    const site = rows.find(({ isAsked }) => !isAsked);
    if (site) return site;
    from = rows.length === scannedSites ? rows.at(-1)!.id : null;
  }
  return undefined;
}

/** Nothing is kept of a site that was deleted meanwhile. */
export async function recordAnswer(
  database: Database,
  tenantId: string,
  site: SiteToAsk,
  answer: Exclude<GeocoderAnswer, { kind: 'failed' }>,
): Promise<void> {
  const [state, lat, lng, foundAs] =
    answer.kind === 'found'
      ? ['OPEN', answer.lat, answer.lng, answer.foundAs]
      : ['NOT_FOUND', null, null, null];
  await database.queryInTenants([tenantId], {
    text: `INSERT INTO position_proposal (tenant_id, site_id, address_hash, state, lat, lng, found_as, asked_at)
      SELECT site.tenant_id, site.id, $3, $4, $5, $6, $7, $8 FROM site
      WHERE site.tenant_id = $1 AND site.id = $2
      ON CONFLICT (tenant_id, site_id) DO UPDATE SET address_hash = excluded.address_hash, state = excluded.state,
        lat = excluded.lat, lng = excluded.lng, found_as = excluded.found_as, asked_at = excluded.asked_at`,
    values: [tenantId, site.id, site.addressHash, state, lat, lng, foundAs, new Date()],
  });
}

export interface Proposal extends StreetAddress {
  siteId: string;
  name: string;
  version: number;
  lat: number;
  lng: number;
  foundAs: string;
}

const openProposal = `proposal.tenant_id = $1 AND proposal.state = 'OPEN' AND site.tenant_id = $1
  AND site.id = proposal.site_id AND proposal.address_hash = ${addressHash} AND ${hasNoPosition}`;

export async function listProposals(
  database: Database,
  tenantId: string,
  { after, limit }: { after: string; limit: number },
): Promise<{ proposals: Proposal[]; total: number }> {
  const [{ rows }, counted] = await Promise.all([
    database.queryInTenants<Proposal>([tenantId], {
      text: `SELECT site.id AS "siteId", site.name, site.version, site.address_street_name AS "streetName",
          site.address_house_number AS "houseNumber", site.address_zip_code AS "zipCode", site.address_city AS city,
          proposal.lat, proposal.lng, proposal.found_as AS "foundAs"
        FROM position_proposal AS proposal, site
        WHERE ${openProposal} AND proposal.site_id > $2 ORDER BY proposal.site_id LIMIT $3`,
      values: [tenantId, after, limit],
    }),
    database.queryInTenants<{ total: number }>([tenantId], {
      text: `SELECT count(*)::integer AS total FROM position_proposal AS proposal, site WHERE ${openProposal}`,
      values: [tenantId],
    }),
  ]);
  return { proposals: rows, total: counted.rows[0]!.total };
}

/** Answers whether there was one. */
export async function rejectProposal(database: Database, tenantId: string, siteId: string): Promise<boolean> {
  const { rowCount } = await database.queryInTenants([tenantId], {
    text: `UPDATE position_proposal SET state = 'REJECTED' WHERE tenant_id = $1 AND site_id = $2 AND state = 'OPEN'`,
    values: [tenantId, siteId],
  });
  return rowCount === 1;
}

/** Runs in the transaction that erases a person. The geocoder's name of a place may hold the person's. */
export async function erasePlaceNames(
  client: pg.ClientBase,
  tenantId: string,
  patterns: readonly string[],
): Promise<void> {
  await client.query(
    `UPDATE position_proposal SET found_as = '[…]' WHERE tenant_id = $1 AND lower(found_as) LIKE ANY ($2::text[])`,
    [tenantId, patterns],
  );
}
