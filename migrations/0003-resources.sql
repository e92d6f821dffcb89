-- The eight resources. Columns follow the definitions in server/resources: a nested field is a column named by its
-- whole path. There is no foreign key to tenant: the id comes from the key's own row, and each check would lock the
-- tenant's row. Only owners are foreign keys, since everything else may arrive in any order.

CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- One spelling for all: "Müller", "Mueller" and "MULLER" are the same to whoever searches or sorts.
CREATE FUNCTION fold(name text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
  RETURN replace(replace(replace(
    translate(replace(lower(name), 'ß', 'ss'), 'äöüáàâéèêëíìîïóòôúùûçñåø', 'aouaaaeeeeiiiiooouuucnao'),
    'ae', 'a'), 'oe', 'o'), 'ue', 'u');

-- What every resource has beside its own columns. sort_name and search_text are columns and not expressions, because
-- row-level security lets an index be used only for comparisons of plain columns.
CREATE FUNCTION prepare_resource(target regclass, sorted_by text, searched text) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %1$s
    ADD COLUMN sort_name text COLLATE "C" GENERATED ALWAYS AS (fold(%2$s)) STORED,
    ADD COLUMN search_text text GENERATED ALWAYS AS (fold(%3$s)) STORED,
    ADD CONSTRAINT %1$s_external_id_unique UNIQUE (tenant_id, external_id)', target, sorted_by, searched);
  EXECUTE format('CREATE INDEX %1$s_by_name ON %1$s (tenant_id, sort_name, id)', target);
  EXECUTE format('CREATE INDEX %1$s_by_update ON %1$s (tenant_id, updated_at, id)', target);
  EXECUTE format('CREATE INDEX %1$s_search ON %1$s USING gin (tenant_id, search_text gin_trgm_ops)', target);
  PERFORM isolate_tenants(target);
  -- The trigram operators may not use their index below row-level security, so the search runs with the owner's
  -- rights, for a tenant of the transaction only. Every word must resemble some part; the best matches come first.
  EXECUTE format('CREATE FUNCTION search_%1$s(tenant uuid, words text[], most integer) RETURNS TABLE (id uuid, rank real)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET pg_trgm.word_similarity_threshold = 0.5 AS
    $f$
      SELECT found.id, word_similarity(fold(array_to_string(words, '' '')), found.search_text) FROM %1$s AS found
      WHERE found.tenant_id = tenant AND tenant = ANY (current_tenants()) AND found.search_text %%> fold(words[1])
        AND (SELECT bool_and(found.search_text %%> fold(word)) FROM unnest(words[2:]) AS word) IS NOT FALSE
      ORDER BY 2 DESC, 1 LIMIT most
    $f$', target);
  EXECUTE format('REVOKE ALL ON FUNCTION search_%s FROM PUBLIC', target);
  EXECUTE format('GRANT EXECUTE ON FUNCTION search_%s TO stamm_service', target);
END $$;

-- Addresses have no lengths, and an index entry has: what filters look for is the beginning.
CREATE FUNCTION prepare_address(target regclass) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s
    ADD COLUMN address_city_start text GENERATED ALWAYS AS (left(address_city, 100)) STORED,
    ADD COLUMN address_zip_code_start text GENERATED ALWAYS AS (left(address_zip_code, 100)) STORED', target);
  EXECUTE format('CREATE INDEX %1$s_by_city ON %1$s (tenant_id, address_city_start, id)', target);
  EXECUTE format('CREATE INDEX %1$s_by_zip_code ON %1$s (tenant_id, address_zip_code_start, id)', target);
END $$;
REVOKE ALL ON FUNCTION prepare_resource, prepare_address FROM PUBLIC;

CREATE TABLE customer (
  tenant_id            uuid NOT NULL,
  id                   uuid NOT NULL,
  external_id          text,
  version              integer NOT NULL DEFAULT 1,
  created_at           timestamptz NOT NULL DEFAULT now(),
  updated_at           timestamptz NOT NULL DEFAULT now(),
  company_name         text NOT NULL,
  address_street_name  text NOT NULL,
  address_house_number text NOT NULL,
  address_zip_code     text NOT NULL,
  address_city         text NOT NULL,
  address_location_lat double precision,
  address_location_lng double precision,
  customer_number      text,
  email                text,
  phone                text,
  vat_id               text,
  comment              text,
  status               text NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT customer_customer_number_unique UNIQUE (tenant_id, customer_number)
);
COMMENT ON TABLE customer IS 'A customer of the business: who has the plants.';
SELECT prepare_resource('customer', 'company_name', 'company_name || '' '' || coalesce(customer_number, '''')');
SELECT prepare_address('customer');

CREATE TABLE site (
  tenant_id                               uuid NOT NULL,
  id                                      uuid NOT NULL,
  external_id                             text,
  version                                 integer NOT NULL DEFAULT 1,
  created_at                              timestamptz NOT NULL DEFAULT now(),
  updated_at                              timestamptz NOT NULL DEFAULT now(),
  customer_id                             uuid NOT NULL,
  name                                    text NOT NULL,
  address_street_name                     text NOT NULL,
  address_house_number                    text NOT NULL,
  address_zip_code                        text NOT NULL,
  address_city                            text NOT NULL,
  address_location_lat                    double precision,
  address_location_lng                    double precision,
  needs_appointment                       boolean NOT NULL,
  has_key                                 boolean NOT NULL,
  comment                                 text,
  appointment_preparation_time_in_minutes bigint,
  attending_intervals                     json,
  attending_intervals_is_known            boolean,
  opening_hours                           json NOT NULL,
  opening_hours_is_known                  boolean NOT NULL,
  service_record_recipient_id             uuid,
  call_out_fee                            numeric,
  assigned_employee_id                    uuid,
  contact_person_id                       uuid,
  contract_id                             uuid,
  valid_from                              date,
  valid_until                             date,
  time_zone                               text NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, customer_id) REFERENCES customer
);
COMMENT ON TABLE site IS 'A place of a customer where plants stand and are cared for.';
COMMENT ON COLUMN site.call_out_fee IS 'The exact decimal that was sent.';
COMMENT ON COLUMN site.opening_hours IS 'As it was sent: json and not jsonb, which would write numbers and order names in its own way.';
COMMENT ON COLUMN site.opening_hours_is_known IS 'Whether all items have the shape that the office can show as a week.';
COMMENT ON COLUMN site.attending_intervals_is_known IS 'Whether all items have the shape that visits can be planned with.';
SELECT prepare_resource('site', 'name', 'name');
SELECT prepare_address('site');
CREATE INDEX site_by_customer ON site (tenant_id, customer_id, id);
-- What the attention list looks for is rare, and so are the entries of these indexes.
CREATE INDEX site_without_position ON site (tenant_id, id) WHERE address_location_lat IS NULL AND address_location_lng IS NULL;
CREATE INDEX site_with_unknown_hours ON site (tenant_id, id) WHERE NOT opening_hours_is_known;
CREATE INDEX site_with_unknown_intervals ON site (tenant_id, id) WHERE NOT attending_intervals_is_known;
CREATE INDEX site_by_end_of_validity ON site (tenant_id, valid_until) WHERE valid_until IS NOT NULL;
CREATE INDEX site_by_contact_person ON site (tenant_id, contact_person_id, id) WHERE contact_person_id IS NOT NULL;
CREATE INDEX site_by_contract ON site (tenant_id, contract_id, id) WHERE contract_id IS NOT NULL;
CREATE INDEX site_by_employee ON site (tenant_id, assigned_employee_id, id) WHERE assigned_employee_id IS NOT NULL;
CREATE INDEX site_by_recipient ON site (tenant_id, service_record_recipient_id, id) WHERE service_record_recipient_id IS NOT NULL;

CREATE TABLE contact_person (
  tenant_id   uuid NOT NULL,
  id          uuid NOT NULL,
  external_id text,
  version     integer NOT NULL DEFAULT 1,
  created_at  timestamptz NOT NULL DEFAULT now(),
  updated_at  timestamptz NOT NULL DEFAULT now(),
  customer_id uuid NOT NULL,
  last_name   text NOT NULL,
  first_name  text,
  salutation  text,
  role        text,
  email       text,
  phone       text,
  mobile      text,
  language    text,
  comment     text,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, customer_id) REFERENCES customer
);
COMMENT ON TABLE contact_person IS 'A person at a customer. Personal data: exportable and erasable.';
SELECT prepare_resource('contact_person', 'last_name', 'last_name || '' '' || coalesce(first_name, '''')');
CREATE INDEX contact_person_by_customer ON contact_person (tenant_id, customer_id, id);

CREATE TABLE contract (
  tenant_id               uuid NOT NULL,
  id                      uuid NOT NULL,
  external_id             text,
  version                 integer NOT NULL DEFAULT 1,
  created_at              timestamptz NOT NULL DEFAULT now(),
  updated_at              timestamptz NOT NULL DEFAULT now(),
  customer_id             uuid NOT NULL,
  start_date              date NOT NULL,
  type                    text NOT NULL,
  contract_number         text,
  end_date                date,
  notice_period_in_months bigint,
  net_price               numeric,
  billing_interval        text,
  status                  text,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT contract_contract_number_unique UNIQUE (tenant_id, contract_number),
  FOREIGN KEY (tenant_id, customer_id) REFERENCES customer
);
COMMENT ON TABLE contract IS 'What was agreed with a customer.';
SELECT prepare_resource('contract', 'coalesce(contract_number, '''')', 'coalesce(contract_number, '''')');
CREATE INDEX contract_by_customer ON contract (tenant_id, customer_id, id);

CREATE TABLE product (
  tenant_id      uuid NOT NULL,
  id             uuid NOT NULL,
  external_id    text,
  version        integer NOT NULL DEFAULT 1,
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now(),
  name           text NOT NULL,
  kind           text NOT NULL,
  article_number text,
  gtin           text,
  unit_code      text NOT NULL,
  net_price      numeric,
  currency       text NOT NULL,
  vat_rate       numeric,
  description    text,
  active         boolean NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT product_article_number_unique UNIQUE (tenant_id, article_number)
);
COMMENT ON TABLE product IS 'Something that the business sells or uses.';
SELECT prepare_resource('product', 'name', 'name || '' '' || coalesce(article_number, '''')');

CREATE TABLE container (
  tenant_id                 uuid NOT NULL,
  id                        uuid NOT NULL,
  external_id               text,
  version                   integer NOT NULL DEFAULT 1,
  created_at                timestamptz NOT NULL DEFAULT now(),
  updated_at                timestamptz NOT NULL DEFAULT now(),
  site_id                   uuid,
  name                      text NOT NULL,
  culture_system            text NOT NULL,
  product_id                uuid,
  material                  text,
  color                     text,
  length_in_cm              bigint,
  width_in_cm               bigint,
  height_in_cm              bigint,
  diameter_in_cm            bigint,
  volume_in_litres          numeric,
  has_water_level_indicator boolean,
  ownership                 text,
  label_code                text,
  comment                   text,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT container_label_code_unique UNIQUE (tenant_id, label_code),
  FOREIGN KEY (tenant_id, site_id) REFERENCES site
);
COMMENT ON TABLE container IS 'A pot or planter, at a site or in stock.';
SELECT prepare_resource('container', 'name', 'name || '' '' || coalesce(label_code, '''')');
CREATE INDEX container_by_site ON container (tenant_id, site_id, id) WHERE site_id IS NOT NULL;
CREATE INDEX container_by_product ON container (tenant_id, product_id, id) WHERE product_id IS NOT NULL;

CREATE TABLE plant (
  tenant_id      uuid NOT NULL,
  id             uuid NOT NULL,
  external_id    text,
  version        integer NOT NULL DEFAULT 1,
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now(),
  site_id        uuid NOT NULL,
  botanical_name text,
  product_id     uuid,
  common_name    text,
  quantity       bigint NOT NULL,
  container_id   uuid,
  building       text,
  floor          text,
  room           text,
  position       text,
  height_in_cm   bigint,
  planted_on     date,
  removed_on     date,
  status         text,
  ownership      text,
  label_code     text,
  comment        text,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT plant_label_code_unique UNIQUE (tenant_id, label_code),
  FOREIGN KEY (tenant_id, site_id) REFERENCES site
);
COMMENT ON TABLE plant IS 'One plant, or several of a kind that stand together, at a site.';
SELECT prepare_resource('plant', 'coalesce(botanical_name, common_name, '''')',
  'coalesce(botanical_name, '''') || '' '' || coalesce(common_name, '''') || '' '' || coalesce(label_code, '''')');
CREATE INDEX plant_by_site ON plant (tenant_id, site_id, id);
CREATE INDEX plant_by_product ON plant (tenant_id, product_id, id) WHERE product_id IS NOT NULL;
CREATE INDEX plant_by_container ON plant (tenant_id, container_id, id) WHERE container_id IS NOT NULL;

CREATE TABLE employee (
  tenant_id       uuid NOT NULL,
  id              uuid NOT NULL,
  external_id     text,
  version         integer NOT NULL DEFAULT 1,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  first_name      text NOT NULL,
  last_name       text NOT NULL,
  employee_number text,
  email           text,
  phone           text,
  active          boolean NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT employee_employee_number_unique UNIQUE (tenant_id, employee_number)
);
COMMENT ON TABLE employee IS 'Somebody who works for the business.';
SELECT prepare_resource('employee', 'last_name', 'last_name || '' '' || first_name || '' '' || coalesce(employee_number, '''')');
