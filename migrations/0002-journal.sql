-- What happened, in the order in which it was committed, and the answers that retries get.

CREATE TABLE journal_head (
  tenant_id     uuid PRIMARY KEY REFERENCES tenant,
  last_position bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON TABLE journal_head IS
  'The last position of each tenant''s journal. Whoever writes an entry locks it until the commit, so that positions have no gaps and are in the order of commits.';

CREATE TABLE journal (
  tenant_id   uuid NOT NULL,
  position    bigint NOT NULL,
  at          timestamptz NOT NULL DEFAULT now(),
  resource    text NOT NULL,
  resource_id uuid NOT NULL,
  external_id text,
  action      text NOT NULL CHECK (action IN ('CREATED', 'CHANGED', 'DELETED')),
  version     integer NOT NULL,
  actor       text NOT NULL,
  request_id  uuid,
  changes     json,
  PRIMARY KEY (tenant_id, position)
);
COMMENT ON TABLE journal IS 'Every creation, change and deletion, written in the transaction that did it.';
COMMENT ON COLUMN journal.actor IS 'Who: "key …abcd" with the last four characters of the key, "person" with an id, or "command line".';
COMMENT ON COLUMN journal.changes IS 'For a change: the fields that changed, each with "from" and "to".';
CREATE INDEX journal_by_resource ON journal (tenant_id, resource_id, position);

CREATE TABLE idempotent_request (
  tenant_id   uuid NOT NULL,
  key         text NOT NULL,
  fingerprint text NOT NULL,
  resource_id uuid NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, key)
);
COMMENT ON TABLE idempotent_request IS 'Creations that were sent with an Idempotency-Key, written in the transaction of the row that they made.';
COMMENT ON COLUMN idempotent_request.fingerprint IS 'SHA-256 of path and body.';
CREATE INDEX idempotent_request_by_age ON idempotent_request (created_at);
CREATE INDEX idempotent_request_by_resource ON idempotent_request (tenant_id, resource_id);

SELECT isolate_tenants(name) FROM unnest(ARRAY['journal_head', 'journal', 'idempotent_request']::regclass[]) AS name;

-- Called now and then by each process.
CREATE FUNCTION forget_old_requests() RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM idempotent_request WHERE created_at < now() - interval '24 hours'
$$;
REVOKE ALL ON FUNCTION forget_old_requests FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_old_requests TO stamm_service;
