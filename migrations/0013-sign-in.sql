-- Known devices, reset links, and one address in several businesses.

-- Somebody else's claim on an address must not keep its owner out of another business, nor tell that it is in use there.
ALTER TABLE sign_in_name DROP CONSTRAINT sign_in_name_pkey, ADD PRIMARY KEY (email_hash, tenant_id);
COMMENT ON TABLE sign_in_name IS
  'Which people an e-mail address signs in: at most one of each business. Fit to be a reference table.';

ALTER TABLE person ADD COLUMN language text CHECK (language IN ('de', 'en'));
COMMENT ON COLUMN person.language IS 'Language of the last sign-in, for mail. NULL if unknown.';

CREATE TABLE known_device (
  tenant_id    uuid NOT NULL,
  id           uuid NOT NULL,
  person_id    uuid NOT NULL,
  token_hash   bytea NOT NULL,
  last_used_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, person_id) REFERENCES person ON DELETE CASCADE
);
COMMENT ON TABLE known_device IS
  'A browser that has signed this person in. Its wrong passwords are counted apart from those of strangers.';
COMMENT ON COLUMN known_device.token_hash IS 'SHA-256 of the token in the device cookie.';
CREATE INDEX known_device_by_person ON known_device (tenant_id, person_id);

CREATE TABLE password_reset (
  tenant_id  uuid NOT NULL,
  id         uuid NOT NULL,
  person_id  uuid NOT NULL,
  token_hash bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, person_id) REFERENCES person ON DELETE CASCADE
);
COMMENT ON TABLE password_reset IS 'A one-time link to set a new password. Used links are deleted.';
CREATE INDEX password_reset_by_token ON password_reset (token_hash);
CREATE INDEX password_reset_by_person ON password_reset (tenant_id, person_id);

SELECT isolate_tenants(name) FROM unnest(ARRAY['known_device', 'password_reset']::regclass[]) AS name;

-- Whether this browser has signed somebody in with this address.
CREATE FUNCTION is_known_device(email_hash bytea, token_hash bytea) RETURNS boolean
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM sign_in_name AS known
    JOIN known_device AS device ON device.tenant_id = known.tenant_id AND device.person_id = known.person_id
    WHERE known.email_hash = is_known_device.email_hash AND device.token_hash = is_known_device.token_hash)
$$;

CREATE FUNCTION find_password_reset(hash bytea)
  RETURNS TABLE (tenant_id uuid, id uuid, person_id uuid, name text, email text, business_name text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT reset.tenant_id, reset.id, person.id, person.name, person.email, tenant.name
  FROM password_reset AS reset
  JOIN person ON person.tenant_id = reset.tenant_id AND person.id = reset.person_id
  JOIN tenant ON tenant.tenant_id = reset.tenant_id
  WHERE reset.token_hash = hash AND reset.expires_at > now()
$$;

-- Called by each process from time to time.
CREATE FUNCTION forget_old_devices(age interval) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM known_device WHERE last_used_at < now() - age;
  DELETE FROM password_reset WHERE expires_at < now();
$$;

REVOKE ALL ON FUNCTION is_known_device, find_password_reset, forget_old_devices FROM PUBLIC;
GRANT EXECUTE ON FUNCTION is_known_device, find_password_reset, forget_old_devices TO stamm_service;
