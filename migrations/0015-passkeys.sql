-- Passkeys, recovery codes, the second step of a sign-in, and the last proof of a session.

ALTER TABLE tenant ADD COLUMN requires_passkeys boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN tenant.requires_passkeys IS 'A person without a passkey can only add one.';

ALTER TABLE session ADD COLUMN proved_at timestamptz NOT NULL DEFAULT now();
UPDATE session SET proved_at = created_at;
COMMENT ON COLUMN session.proved_at IS 'Last time the person showed a password or passkey in this session.';

CREATE TABLE passkey (
  tenant_id     uuid NOT NULL,
  id            uuid NOT NULL,
  person_id     uuid NOT NULL,
  credential_id bytea NOT NULL,
  public_key    bytea NOT NULL,
  counter       bigint NOT NULL,
  transports    text[] NOT NULL,
  rp_id         text NOT NULL,
  name          text NOT NULL CHECK (name ~ '\S'),
  created_at    timestamptz NOT NULL DEFAULT now(),
  last_used_at  timestamptz,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, person_id, credential_id),
  FOREIGN KEY (tenant_id, person_id) REFERENCES person ON DELETE CASCADE
);
COMMENT ON TABLE passkey IS 'A WebAuthn credential of a person. The private key never leaves the authenticator.';
COMMENT ON COLUMN passkey.public_key IS 'COSE key.';
COMMENT ON COLUMN passkey.counter IS 'Signature counter of the last use; 0 for authenticators that do not count.';
COMMENT ON COLUMN passkey.rp_id IS 'Host name that the browser bound the passkey to.';
CREATE INDEX passkey_by_credential ON passkey (credential_id);

CREATE TABLE recovery_code (
  tenant_id  uuid NOT NULL,
  person_id  uuid NOT NULL,
  code_hash  bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, person_id, code_hash),
  FOREIGN KEY (tenant_id, person_id) REFERENCES person ON DELETE CASCADE
);
COMMENT ON TABLE recovery_code IS 'Replaces a passkey in a sign-in, once. Used codes are deleted.';
COMMENT ON COLUMN recovery_code.code_hash IS 'SHA-256: a code has 80 random bits, so a fast hash hides it.';

CREATE TABLE pending_sign_in (
  tenant_id  uuid NOT NULL,
  id         uuid NOT NULL,
  person_id  uuid NOT NULL,
  token_hash bytea NOT NULL,
  tries      integer NOT NULL DEFAULT 0,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, person_id) REFERENCES person ON DELETE CASCADE
);
COMMENT ON TABLE pending_sign_in IS 'The password was right; a passkey or recovery code is still missing.';
CREATE INDEX pending_sign_in_by_token ON pending_sign_in (token_hash);
CREATE INDEX pending_sign_in_by_person ON pending_sign_in (tenant_id, person_id);

SELECT isolate_tenants(name) FROM unnest(ARRAY['passkey', 'recovery_code', 'pending_sign_in']::regclass[]) AS name;

-- Without a tenant: a sign-in by passkey asks for a challenge before anybody is known. Unlogged: a crash may forget
-- the challenges of the last minutes.
CREATE UNLOGGED TABLE passkey_challenge (
  challenge_hash bytea PRIMARY KEY,
  purpose        text NOT NULL CHECK (purpose IN ('REGISTRATION', 'SIGN_IN', 'SECOND_FACTOR', 'PROOF')),
  bound_to       uuid CHECK ((bound_to IS NULL) = (purpose = 'SIGN_IN')),
  expires_at     timestamptz NOT NULL
);
COMMENT ON TABLE passkey_challenge IS 'Challenges that no authenticator has answered yet. Each is used once.';
COMMENT ON COLUMN passkey_challenge.bound_to IS 'Session or pending sign-in that asked for it.';
CREATE INDEX passkey_challenge_by_expiry ON passkey_challenge (expires_at);

-- Each new challenge removes two expired ones: the table stays as small as its live rows without upkeep.
CREATE FUNCTION make_passkey_challenge(hash bytea, its_purpose text, binding uuid, seconds integer) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM passkey_challenge WHERE challenge_hash IN (
    SELECT challenge_hash FROM passkey_challenge WHERE expires_at < now()
    ORDER BY expires_at LIMIT 2 FOR UPDATE SKIP LOCKED);
  INSERT INTO passkey_challenge (challenge_hash, purpose, bound_to, expires_at)
  VALUES (hash, its_purpose, binding, now() + make_interval(secs => seconds));
$$;

-- Two uses at the same moment wait for each other, and the second finds nothing.
CREATE FUNCTION use_passkey_challenge(hash bytea, its_purpose text, binding uuid) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  DELETE FROM passkey_challenge
  WHERE challenge_hash = hash AND purpose = its_purpose AND bound_to IS NOT DISTINCT FROM binding AND expires_at > now();
  RETURN FOUND;
END $$;

-- The person comes from the authenticator's user handle, which nobody signs: the caller checks the signature.
CREATE FUNCTION find_passkey(credential bytea, person uuid)
  RETURNS TABLE (tenant_id uuid, id uuid, public_key bytea, counter bigint, rp_id text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT passkey.tenant_id, passkey.id, passkey.public_key, passkey.counter, passkey.rp_id
  FROM passkey WHERE passkey.credential_id = credential AND passkey.person_id = person
$$;

-- Counts a try before the caller checks it: parallel guesses are all counted.
CREATE FUNCTION try_pending_sign_in(hash bytea, max_tries integer) RETURNS TABLE (tenant_id uuid, id uuid, person_id uuid)
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE pending_sign_in AS pending SET tries = tries + 1
  WHERE pending.token_hash = hash AND pending.expires_at > now() AND pending.tries < max_tries
  RETURNING pending.tenant_id, pending.id, pending.person_id
$$;

CREATE FUNCTION lacks_required_passkey(tenant_asked uuid, person_asked uuid) RETURNS boolean
  LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM tenant WHERE tenant_id = tenant_asked AND requires_passkeys)
    AND NOT EXISTS (SELECT FROM passkey WHERE tenant_id = tenant_asked AND person_id = person_asked)
$$;

-- As before, with the age of the last proof and whether the person must add a passkey first.
DROP FUNCTION find_session(bytea, interval, interval);
CREATE FUNCTION find_session(hash bytea, idle interval, lifetime interval)
  RETURNS TABLE (tenant_id uuid, session_id uuid, person_id uuid, name text, email text, role text, business_name text,
    proof_age_seconds double precision, needs_passkey boolean)
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH found AS (
    SELECT session.tenant_id, session.id, session.person_id, session.last_used_at, session.proved_at FROM session
    WHERE session.token_hash = hash AND session.last_used_at > now() - idle AND session.created_at > now() - lifetime
  ), noted AS (
    UPDATE session SET last_used_at = now() FROM found
    WHERE session.tenant_id = found.tenant_id AND session.id = found.id AND found.last_used_at < now() - interval '1 minute'
  )
  SELECT found.tenant_id, found.id, person.id, person.name, person.email, person.role, tenant.name,
    extract(epoch FROM now() - found.proved_at)::double precision, lacks_required_passkey(found.tenant_id, person.id)
  FROM found JOIN person ON person.tenant_id = found.tenant_id AND person.id = found.person_id
  JOIN tenant ON tenant.tenant_id = found.tenant_id
$$;

REVOKE ALL ON FUNCTION make_passkey_challenge, use_passkey_challenge, find_passkey, try_pending_sign_in,
  lacks_required_passkey, find_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_passkey_challenge, use_passkey_challenge, find_passkey, try_pending_sign_in,
  lacks_required_passkey, find_session TO stamm_service;
