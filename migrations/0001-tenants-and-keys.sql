-- Tenants, their API keys, and the isolation that every later table takes over.
--
-- Rules that test/api/catalogue.test.ts enforces for every table: its primary key, unique constraints and foreign
-- keys begin with tenant_id; row-level security is enabled and forced; the service's role owns nothing. The same
-- rules keep the schema fit for distribution by tenant_id.

-- The tenants that the running transaction acts for. A list, because rows of several tenants that arrive together
-- are written together. The setting is '' and not NULL on a pooled connection after its transaction: hence nullif.
CREATE FUNCTION current_tenants() RETURNS uuid[]
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN string_to_array(nullif(current_setting('stamm.tenants', true), ''), ',')::uuid[];

-- Applied to each tenant table. The sub-select makes the planner ask once a statement and not once a row. The CASE keeps
-- it from counting the tenant twice: statements name their tenant themselves, and two equalities would make it believe
-- that hardly any row is left, and take any index for the right one.
CREATE FUNCTION isolate_tenants(target regclass) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
  EXECUTE format('CREATE POLICY own_tenant ON %s TO stamm_service
    USING (CASE WHEN tenant_id = ANY ((SELECT current_tenants())::uuid[]) THEN true ELSE false END)', target);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO stamm_service', target);
  -- The owner is not the service. It works for all tenants: at the command line, and in the few functions below that
  -- run with its rights, each of which names the tenant itself.
  EXECUTE format('CREATE POLICY owner_administers ON %s TO current_user USING (true)', target);
END $$;

CREATE TABLE tenant (
  tenant_id  uuid PRIMARY KEY,
  name       text NOT NULL CHECK (name ~ '\S'),
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE tenant IS 'A business that uses Stamm.';

CREATE TABLE api_key (
  tenant_id    uuid NOT NULL REFERENCES tenant,
  key_hash     bytea NOT NULL,
  last_four    text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  ended_at     timestamptz,
  ended_by     text CHECK (ended_by IN ('REPLACED', 'DELETED')),
  last_used_at timestamptz,
  PRIMARY KEY (tenant_id, key_hash),
  CHECK ((ended_at IS NULL) = (ended_by IS NULL))
);
COMMENT ON TABLE api_key IS 'The key of a tenant, and those that it had before, so that their users can be told why they are refused.';
COMMENT ON COLUMN api_key.key_hash IS 'SHA-256 of the key; the key itself is shown once and kept nowhere.';
COMMENT ON COLUMN api_key.last_used_at IS 'To the minute: written once a minute of use, not once a request.';
CREATE UNIQUE INDEX api_key_one_live_per_tenant ON api_key (tenant_id) WHERE ended_at IS NULL;
CREATE INDEX api_key_by_hash ON api_key (key_hash);

CREATE TABLE ended_key_use (
  tenant_id    uuid NOT NULL,
  key_hash     bytea NOT NULL,
  address      text NOT NULL,
  user_agent   text NOT NULL,
  requests     bigint NOT NULL,
  last_used_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, key_hash, address, user_agent),
  FOREIGN KEY (tenant_id, key_hash) REFERENCES api_key ON DELETE CASCADE
);
COMMENT ON TABLE ended_key_use IS 'Who still sends a replaced or deleted key.';

-- Unlogged: a crash may forget the requests of the last minute, and counting them costs no write-ahead log.
CREATE UNLOGGED TABLE request_window (
  tenant_id  uuid PRIMARY KEY,
  started_at timestamptz NOT NULL,
  requests   bigint NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE request_window IS 'Requests of each tenant in its current window of the rate limit.';

SELECT isolate_tenants(name) FROM unnest(ARRAY['tenant', 'api_key', 'ended_key_use', 'request_window']::regclass[]) AS name;

-- Finds the tenants of many keys at once and counts their requests, in one statement. It sees every key that was
-- replaced or deleted before the statement began, which is what makes a replaced key end at once on every node.
-- Rows are locked in the order of tenant_id, so that two nodes cannot wait for each other.
CREATE FUNCTION authenticate(key_hashes bytea[], request_counts bigint[], window_seconds integer)
  RETURNS TABLE (key_hash bytea, tenant_id uuid, last_four text, ended_by text, requests bigint, window_ends_in_ms integer)
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH shown AS (
    SELECT key.key_hash, key.tenant_id, key.last_four, key.ended_by, asked.requests
    FROM unnest(key_hashes, request_counts) AS asked (key_hash, requests)
    JOIN api_key AS key ON key.key_hash = asked.key_hash
  ), counted AS (
    INSERT INTO request_window AS current_window (tenant_id, started_at, requests)
    SELECT shown.tenant_id, clock_timestamp(), shown.requests FROM shown
    WHERE shown.ended_by IS NULL AND shown.requests > 0
    ORDER BY shown.tenant_id
    ON CONFLICT (tenant_id) DO UPDATE SET
      started_at = CASE WHEN current_window.started_at + make_interval(secs => window_seconds) <= excluded.started_at
        THEN excluded.started_at ELSE current_window.started_at END,
      requests = CASE WHEN current_window.started_at + make_interval(secs => window_seconds) <= excluded.started_at
        THEN excluded.requests ELSE current_window.requests + excluded.requests END
    RETURNING current_window.tenant_id, current_window.started_at, current_window.requests
  )
  SELECT shown.key_hash, shown.tenant_id, shown.last_four, shown.ended_by, counted.requests,
    (extract(epoch FROM counted.started_at + make_interval(secs => window_seconds) - clock_timestamp()) * 1000)::integer
  FROM shown LEFT JOIN counted USING (tenant_id)
$$;

-- Notes when keys were last used, and who still uses ended ones; called a few times a minute by each process.
CREATE FUNCTION record_key_use(uses jsonb) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE api_key SET last_used_at = date_trunc('minute', used.last_used_at)
  FROM jsonb_to_recordset(uses -> 'live') AS used (tenant_id uuid, key_hash text, last_used_at timestamptz)
  WHERE api_key.tenant_id = used.tenant_id AND api_key.key_hash = decode(used.key_hash, 'hex')
    AND (api_key.last_used_at IS NULL OR api_key.last_used_at < date_trunc('minute', used.last_used_at));

  INSERT INTO ended_key_use AS known (tenant_id, key_hash, address, user_agent, requests, last_used_at)
  SELECT used.tenant_id, decode(used.key_hash, 'hex'), used.address, used.user_agent, used.requests, used.last_used_at
  FROM jsonb_to_recordset(uses -> 'ended')
    AS used (tenant_id uuid, key_hash text, address text, user_agent text, requests bigint, last_used_at timestamptz)
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (tenant_id, key_hash, address, user_agent) DO UPDATE SET
    requests = known.requests + excluded.requests,
    last_used_at = greatest(known.last_used_at, excluded.last_used_at);
$$;

REVOKE ALL ON FUNCTION isolate_tenants, authenticate, record_key_use FROM PUBLIC;
GRANT EXECUTE ON FUNCTION authenticate, record_key_use TO stamm_service;
