-- The people of the office: who they are, how they sign in, and the links by which they come in.
--
-- Three small tables belong to no tenant, because they are asked before it is known which one it is. They hold hashes
-- and ids only. The service's role has no right on them: the functions below are the only way, and each does one thing.

CREATE TABLE person (
  tenant_id       uuid NOT NULL REFERENCES tenant,
  id              uuid NOT NULL,
  name            text NOT NULL CHECK (name ~ '\S'),
  email           text NOT NULL,
  role            text NOT NULL CHECK (role IN ('VERWALTUNG', 'PFLEGE')),
  password_hash   text NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  last_sign_in_at timestamptz,
  PRIMARY KEY (tenant_id, id)
);
COMMENT ON TABLE person IS 'Somebody of the office. VERWALTUNG may do everything, PFLEGE reads master data.';
COMMENT ON COLUMN person.password_hash IS 'argon2id in the form $argon2id$v=19$m=…,t=…,p=…$salt$hash, so that its cost can be raised later.';

CREATE TABLE session (
  tenant_id    uuid NOT NULL,
  id           uuid NOT NULL,
  person_id    uuid NOT NULL,
  token_hash   bytea NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz NOT NULL DEFAULT now(),
  address      text NOT NULL,
  user_agent   text NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, person_id) REFERENCES person ON DELETE CASCADE
);
COMMENT ON TABLE session IS 'A person who is signed in, in one browser. Ended sessions are deleted.';
COMMENT ON COLUMN session.token_hash IS 'SHA-256 of the cookie''s token, which has 256 random bits and is kept nowhere.';
COMMENT ON COLUMN session.last_used_at IS 'To the minute or so: written once a minute of use, not once a request.';
CREATE INDEX session_by_token ON session (token_hash);
CREATE INDEX session_by_person ON session (tenant_id, person_id);

CREATE TABLE invitation (
  tenant_id  uuid NOT NULL REFERENCES tenant,
  id         uuid NOT NULL,
  email      text NOT NULL,
  role       text NOT NULL CHECK (role IN ('VERWALTUNG', 'PFLEGE')),
  token_hash bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
COMMENT ON TABLE invitation IS 'A one-time link that somebody has not used yet. Used and withdrawn ones are deleted.';
CREATE INDEX invitation_by_token ON invitation (token_hash);

SELECT isolate_tenants(name) FROM unnest(ARRAY['person', 'session', 'invitation']::regclass[]) AS name;

ALTER TABLE api_key ADD COLUMN created_by text NOT NULL DEFAULT 'command line';
COMMENT ON COLUMN api_key.created_by IS 'Name of the person who made it, or "command line".';

CREATE TABLE sign_in_name (
  email_hash bytea PRIMARY KEY,
  tenant_id  uuid NOT NULL,
  person_id  uuid NOT NULL
);
COMMENT ON TABLE sign_in_name IS
  'Which person an e-mail address signs in, over all tenants: an address belongs to one person of one business. Fit to be a reference table.';
COMMENT ON COLUMN sign_in_name.email_hash IS 'SHA-256 of the address in lower case.';

CREATE TABLE setup_link (
  token_hash bytea PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE setup_link IS 'Links that a start has printed while there is no person. The first use ends all of them.';

-- Unlogged: a crash may forget the attempts of the last minutes.
CREATE UNLOGGED TABLE sign_in_attempt (
  subject    bytea PRIMARY KEY,
  started_at timestamptz NOT NULL,
  attempts   integer NOT NULL
);
COMMENT ON TABLE sign_in_attempt IS 'Failed sign-ins of each account and of each address in its current window.';
COMMENT ON COLUMN sign_in_attempt.subject IS 'SHA-256 of what is counted, so that nothing here names anybody.';

CREATE FUNCTION has_people() RETURNS boolean
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM sign_in_name)
$$;

-- Takes an address for a person of the transaction's tenant; false if somebody has it. With the first person all
-- setup links end.
CREATE FUNCTION claim_email(hash bytea, tenant uuid, person uuid) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF (tenant = ANY (current_tenants())) IS NOT TRUE THEN RAISE EXCEPTION 'not a tenant of this transaction'; END IF;
  INSERT INTO sign_in_name (email_hash, tenant_id, person_id) VALUES (hash, tenant, person) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM setup_link;
  RETURN true;
END $$;

CREATE FUNCTION release_email(tenant uuid, person uuid) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM sign_in_name WHERE tenant_id = tenant AND person_id = person AND tenant = ANY (current_tenants())
$$;

-- Who an address signs in. The caller compares the password, also where nobody was found.
CREATE FUNCTION find_account(hash bytea) RETURNS TABLE (tenant_id uuid, person_id uuid, password_hash text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT person.tenant_id, person.id, person.password_hash
  FROM sign_in_name AS known JOIN person ON person.tenant_id = known.tenant_id AND person.id = known.person_id
  WHERE known.email_hash = hash
$$;

-- The session of a token, with what every request needs to know of its person. It notes the use once a minute.
CREATE FUNCTION find_session(hash bytea, idle interval, lifetime interval)
  RETURNS TABLE (tenant_id uuid, session_id uuid, person_id uuid, name text, email text, role text, business_name text)
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH found AS (
    SELECT session.tenant_id, session.id, session.person_id, session.last_used_at FROM session
    WHERE session.token_hash = hash AND session.last_used_at > now() - idle AND session.created_at > now() - lifetime
  ), noted AS (
    UPDATE session SET last_used_at = now() FROM found
    WHERE session.tenant_id = found.tenant_id AND session.id = found.id AND found.last_used_at < now() - interval '1 minute'
  )
  SELECT found.tenant_id, found.id, person.id, person.name, person.email, person.role, tenant.name
  FROM found JOIN person ON person.tenant_id = found.tenant_id AND person.id = found.person_id
  JOIN tenant ON tenant.tenant_id = found.tenant_id
$$;

CREATE FUNCTION end_session(hash bytea) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM session WHERE token_hash = hash
$$;

CREATE FUNCTION find_invitation(hash bytea)
  RETURNS TABLE (tenant_id uuid, id uuid, email text, role text, business_name text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT invitation.tenant_id, invitation.id, invitation.email, invitation.role, tenant.name
  FROM invitation JOIN tenant ON tenant.tenant_id = invitation.tenant_id
  WHERE invitation.token_hash = hash AND invitation.expires_at > now()
$$;

-- Remembers a new link, unless there is a person already. Links of earlier starts end; those of processes that have
-- been started together with this one stay, since nobody knows which of them is read.
CREATE FUNCTION make_setup_link(hash bytea) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  LOCK TABLE setup_link IN SHARE ROW EXCLUSIVE MODE;
  DELETE FROM setup_link WHERE created_at < now() - interval '1 minute';
  IF has_people() THEN RETURN false; END IF;
  INSERT INTO setup_link (token_hash) VALUES (hash);
  RETURN true;
END $$;

CREATE FUNCTION end_setup_link(hash bytea) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM setup_link WHERE token_hash = hash
$$;

-- Whether a link is good, and the one business that is there already, which the first person joins.
CREATE FUNCTION find_setup_link(hash bytea) RETURNS TABLE (tenant_id uuid, business_name text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT only_one.tenant_id, only_one.name
  FROM setup_link LEFT JOIN (
    SELECT min(tenant.tenant_id::text)::uuid AS tenant_id, min(tenant.name) AS name FROM tenant HAVING count(*) = 1
  ) AS only_one ON true
  WHERE setup_link.token_hash = hash AND NOT has_people()
$$;

-- Uses a link up; false if it is not good. Two that are used at once wait for each other, and the second is too late.
CREATE FUNCTION use_setup_link(hash bytea) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  LOCK TABLE setup_link IN SHARE ROW EXCLUSIVE MODE;
  IF has_people() OR NOT EXISTS (SELECT FROM setup_link WHERE token_hash = hash) THEN RETURN false; END IF;
  DELETE FROM setup_link;
  RETURN true;
END $$;

-- Counts an attempt of each subject and tells where it stands, in one statement, so that parallel guesses are all counted.
CREATE FUNCTION count_sign_in(subject_hash bytea, window_seconds integer)
  RETURNS TABLE (attempts integer, window_ends_in_ms integer)
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  INSERT INTO sign_in_attempt AS known (subject, started_at, attempts) VALUES (subject_hash, clock_timestamp(), 1)
  ON CONFLICT (subject) DO UPDATE SET
    started_at = CASE WHEN known.started_at + make_interval(secs => window_seconds) <= excluded.started_at
      THEN excluded.started_at ELSE known.started_at END,
    attempts = CASE WHEN known.started_at + make_interval(secs => window_seconds) <= excluded.started_at
      THEN 1 ELSE known.attempts + 1 END
  RETURNING known.attempts,
    (extract(epoch FROM known.started_at + make_interval(secs => window_seconds) - clock_timestamp()) * 1000)::integer
$$;

-- After a success: it was no guess, and the account's earlier ones were its owner's.
CREATE FUNCTION forgive_sign_in(account bytea, address bytea) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM sign_in_attempt WHERE subject = account;
  UPDATE sign_in_attempt SET attempts = greatest(attempts - 1, 0) WHERE subject = address;
$$;

-- Called now and then by each process.
CREATE FUNCTION forget_old_sign_ins(idle interval, lifetime interval) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM session WHERE last_used_at < now() - idle OR created_at < now() - lifetime;
  DELETE FROM invitation WHERE expires_at < now();
  DELETE FROM sign_in_attempt WHERE started_at < now() - interval '1 hour';
$$;

REVOKE ALL ON FUNCTION has_people, claim_email, release_email, find_account, find_session, end_session, find_invitation,
  make_setup_link, end_setup_link, find_setup_link, use_setup_link, count_sign_in, forgive_sign_in, forget_old_sign_ins
  FROM PUBLIC;
GRANT EXECUTE ON FUNCTION has_people, claim_email, release_email, find_account, find_session, end_session, find_invitation,
  make_setup_link, end_setup_link, find_setup_link, use_setup_link, count_sign_in, forgive_sign_in, forget_old_sign_ins
  TO stamm_service;
