-- Columns follow the definitions in server/resources: a nested field is a column named by its whole path.

CREATE TABLE customer (
  tenant_id            uuid NOT NULL REFERENCES tenant,
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
  CONSTRAINT customer_external_id_unique UNIQUE (tenant_id, external_id),
  CONSTRAINT customer_customer_number_unique UNIQUE (tenant_id, customer_number)
);
COMMENT ON TABLE customer IS 'A customer of the business: who has the plants.';

CREATE TABLE site (
  tenant_id                                uuid NOT NULL REFERENCES tenant,
  id                                       uuid NOT NULL,
  external_id                              text,
  version                                  integer NOT NULL DEFAULT 1,
  created_at                               timestamptz NOT NULL DEFAULT now(),
  updated_at                               timestamptz NOT NULL DEFAULT now(),
  customer_id                              uuid NOT NULL,
  name                                     text NOT NULL,
  address_street_name                      text NOT NULL,
  address_house_number                     text NOT NULL,
  address_zip_code                         text NOT NULL,
  address_city                             text NOT NULL,
  address_location_lat                     double precision,
  address_location_lng                     double precision,
  needs_appointment                        boolean NOT NULL,
  has_key                                  boolean NOT NULL,
  comment                                  text,
  appointment_preparation_time_in_minutes  bigint,
  attending_intervals                      jsonb,
  opening_hours                            jsonb NOT NULL,
  service_record_recipient_id              uuid,
  call_out_fee                             numeric,
  assigned_employee_id                     uuid,
  contact_person_id                        uuid,
  contract_id                              uuid,
  valid_from                               date,
  valid_until                              date,
  time_zone                                text NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT site_external_id_unique UNIQUE (tenant_id, external_id),
  FOREIGN KEY (tenant_id, customer_id) REFERENCES customer
);
COMMENT ON TABLE site IS 'A place of a customer where plants stand and are cared for.';
COMMENT ON COLUMN site.call_out_fee IS 'The exact decimal that was sent.';
CREATE INDEX site_by_customer ON site (tenant_id, customer_id);

SELECT isolate_tenants('customer');
SELECT isolate_tenants('site');
