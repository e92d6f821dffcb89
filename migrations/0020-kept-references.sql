-- A reference may be named by an external id that nothing has yet. The id is kept in the row that names it, and becomes
-- a reference when its object arrives. (Decision 41.)

-- For new tables. Of each reference that may arrive in any order: the column of the external id, and an index of the rows
-- that wait for it. The tables that exist get both below, and in the next file.
CREATE FUNCTION keep_external_ids(target regclass, reference_columns text[]) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  reference_column text;
  kept text;
BEGIN
  FOREACH reference_column IN ARRAY reference_columns LOOP
    kept := regexp_replace(reference_column, '_id$', '_external_id');
    EXECUTE format('ALTER TABLE %s ADD COLUMN %I text, ADD CHECK (%I IS NULL OR %I IS NULL)', target, kept, kept, reference_column);
    EXECUTE format('CREATE INDEX %I ON %s (tenant_id, %I, id) WHERE %I IS NOT NULL',
      target || '_waiting_for_' || regexp_replace(reference_column, '_id$', ''), target, kept, kept);
    EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', target, kept,
      'Kept until an object has this external id; then it is in ' || reference_column || '.');
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION keep_external_ids FROM PUBLIC;

ALTER TABLE site
  ADD COLUMN service_record_recipient_external_id text,
  ADD COLUMN assigned_employee_external_id text,
  ADD COLUMN contact_person_external_id text,
  ADD COLUMN contract_external_id text,
  ADD CONSTRAINT site_service_record_recipient_external_id_check CHECK (service_record_recipient_external_id IS NULL OR service_record_recipient_id IS NULL) NOT VALID,
  ADD CONSTRAINT site_assigned_employee_external_id_check CHECK (assigned_employee_external_id IS NULL OR assigned_employee_id IS NULL) NOT VALID,
  ADD CONSTRAINT site_contact_person_external_id_check CHECK (contact_person_external_id IS NULL OR contact_person_id IS NULL) NOT VALID,
  ADD CONSTRAINT site_contract_external_id_check CHECK (contract_external_id IS NULL OR contract_id IS NULL) NOT VALID;
COMMENT ON COLUMN site.service_record_recipient_external_id IS 'Kept until an object has this external id; then it is in service_record_recipient_id.';
COMMENT ON COLUMN site.assigned_employee_external_id IS 'Kept until an object has this external id; then it is in assigned_employee_id.';
COMMENT ON COLUMN site.contact_person_external_id IS 'Kept until an object has this external id; then it is in contact_person_id.';
COMMENT ON COLUMN site.contract_external_id IS 'Kept until an object has this external id; then it is in contract_id.';

ALTER TABLE container
  ADD COLUMN product_external_id text,
  ADD CONSTRAINT container_product_external_id_check CHECK (product_external_id IS NULL OR product_id IS NULL) NOT VALID;
COMMENT ON COLUMN container.product_external_id IS 'Kept until an object has this external id; then it is in product_id.';

ALTER TABLE plant
  ADD COLUMN product_external_id text,
  ADD COLUMN container_external_id text,
  ADD CONSTRAINT plant_product_external_id_check CHECK (product_external_id IS NULL OR product_id IS NULL) NOT VALID,
  ADD CONSTRAINT plant_container_external_id_check CHECK (container_external_id IS NULL OR container_id IS NULL) NOT VALID;
COMMENT ON COLUMN plant.product_external_id IS 'Kept until an object has this external id; then it is in product_id.';
COMMENT ON COLUMN plant.container_external_id IS 'Kept until an object has this external id; then it is in container_id.';

CREATE TABLE waiting_link (
  tenant_id   uuid NOT NULL,
  resource    text NOT NULL,
  external_id text NOT NULL,
  actor       text NOT NULL,
  actor_id    uuid,
  request_id  uuid,
  origin      text,
  PRIMARY KEY (tenant_id, resource, external_id)
);
COMMENT ON TABLE waiting_link IS
  'Links that the transaction which brought their object left open: too many for one statement, or locked by somebody else.';
COMMENT ON COLUMN waiting_link.resource IS 'What waits for the external id.';
SELECT isolate_tenants('waiting_link');

-- Asked by each process every few seconds: tenants with links to make.
CREATE FUNCTION tenants_with_waiting_links() RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT tenant_id FROM waiting_link LIMIT 100
$$;
REVOKE ALL ON FUNCTION tenants_with_waiting_links FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_with_waiting_links TO stamm_service;
