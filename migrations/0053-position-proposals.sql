-- Positions that a geocoder proposes for sites without one.

CREATE TABLE position_proposal (
  tenant_id    uuid NOT NULL,
  site_id      uuid NOT NULL,
  address_hash text NOT NULL,
  state        text NOT NULL CHECK (state IN ('OPEN', 'NOT_FOUND', 'REJECTED')),
  lat          double precision,
  lng          double precision,
  found_as     text,
  asked_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, site_id),
  FOREIGN KEY (tenant_id, site_id) REFERENCES site ON DELETE CASCADE,
  CHECK ((state = 'NOT_FOUND') = (lat IS NULL) AND (lat IS NULL) = (lng IS NULL))
);
COMMENT ON TABLE position_proposal IS 'What a geocoder answered for the address of a site. The office accepts or rejects it.';
COMMENT ON COLUMN position_proposal.address_hash IS 'Of the address that was asked for. A proposal counts only while the site has this address.';
COMMENT ON COLUMN position_proposal.found_as IS 'The name that the geocoder gives to the place.';
SELECT isolate_tenants('position_proposal');

-- For background work that takes one tenant after the other.
CREATE FUNCTION list_tenants(after uuid, most integer) RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT tenant_id FROM tenant WHERE tenant_id > after ORDER BY tenant_id LIMIT most
$$;
REVOKE ALL ON FUNCTION list_tenants FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_tenants TO stamm_service;
