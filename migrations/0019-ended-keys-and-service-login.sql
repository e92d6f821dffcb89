-- Limits what an ended key can store, and keeps the login that requests use.

-- An ended key has at most 100 rows: 99 senders by name, and one that counts all others.
WITH ranked AS (
  SELECT tenant_id, key_hash, address, user_agent,
    row_number() OVER (PARTITION BY tenant_id, key_hash ORDER BY last_used_at DESC, address, user_agent) AS place
  FROM ended_key_use
), surplus AS (
  DELETE FROM ended_key_use AS known USING ranked
  WHERE ranked.place > 99 AND (known.tenant_id, known.key_hash, known.address, known.user_agent)
    = (ranked.tenant_id, ranked.key_hash, ranked.address, ranked.user_agent)
  RETURNING known.tenant_id, known.key_hash, known.requests, known.last_used_at
)
INSERT INTO ended_key_use (tenant_id, key_hash, address, user_agent, requests, last_used_at)
SELECT tenant_id, key_hash, '', 'others', sum(requests), max(last_used_at) FROM surplus GROUP BY 1, 2;

COMMENT ON TABLE ended_key_use IS 'Who still sends a replaced or deleted key: 99 senders by name, the rest as user agent "others" without an address.';
CREATE INDEX ended_key_use_by_age ON ended_key_use (last_used_at);

-- Each statement of the function sees what was committed before it began: the lock on the key comes first, then the count.
CREATE OR REPLACE FUNCTION record_key_use(uses jsonb) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE api_key SET last_used_at = date_trunc('minute', used.last_used_at)
  FROM jsonb_to_recordset(uses -> 'live') AS used (tenant_id uuid, key_hash text, last_used_at timestamptz)
  WHERE api_key.tenant_id = used.tenant_id AND api_key.key_hash = decode(used.key_hash, 'hex')
    AND (api_key.last_used_at IS NULL OR api_key.last_used_at < date_trunc('minute', used.last_used_at));

  SELECT FROM api_key AS key
  WHERE (key.tenant_id, key.key_hash) IN (
    SELECT used.tenant_id, decode(used.key_hash, 'hex')
    FROM jsonb_to_recordset(uses -> 'ended') AS used (tenant_id uuid, key_hash text))
  ORDER BY key.tenant_id, key.key_hash FOR NO KEY UPDATE;

  WITH used AS (
    SELECT one.tenant_id, decode(one.key_hash, 'hex') AS key_hash, one.address, one.user_agent, one.requests, one.last_used_at
    FROM jsonb_to_recordset(uses -> 'ended')
      AS one (tenant_id uuid, key_hash text, address text, user_agent text, requests bigint, last_used_at timestamptz)
  ), ranked AS (
    SELECT used.*, known.tenant_id IS NOT NULL AS is_known,
      row_number() OVER (PARTITION BY used.tenant_id, used.key_hash, known.tenant_id IS NULL
        ORDER BY used.address = '', used.requests DESC, used.address, used.user_agent) AS place
    FROM used LEFT JOIN ended_key_use AS known USING (tenant_id, key_hash, address, user_agent)
  ), named AS (
    SELECT tenant_id, key_hash, count(*) AS rows FROM ended_key_use
    WHERE address <> '' AND (tenant_id, key_hash) IN (SELECT tenant_id, key_hash FROM used) GROUP BY 1, 2
  ), placed AS (
    SELECT ranked.*, ranked.is_known OR ranked.place <= 99 - coalesce(named.rows, 0) AS has_room
    FROM ranked LEFT JOIN named USING (tenant_id, key_hash)
  )
  INSERT INTO ended_key_use AS known (tenant_id, key_hash, address, user_agent, requests, last_used_at)
  SELECT tenant_id, key_hash, CASE WHEN has_room THEN address ELSE '' END,
    CASE WHEN has_room THEN user_agent ELSE 'others' END, sum(requests), max(last_used_at)
  FROM placed GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (tenant_id, key_hash, address, user_agent) DO UPDATE SET
    requests = known.requests + excluded.requests,
    last_used_at = greatest(known.last_used_at, excluded.last_used_at);
$$;

-- Removes senders of ended keys that have not come back for that long; called every hour.
CREATE FUNCTION forget_ended_key_use(kept interval) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM ended_key_use WHERE last_used_at < now() - kept;
$$;
REVOKE ALL ON FUNCTION forget_ended_key_use FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_ended_key_use TO stamm_service;

-- All nodes read the login here, so that they agree on its password. A copy of the database has the same login.
CREATE TABLE service_login (
  name     text PRIMARY KEY DEFAULT 'stamm_app_' || left(replace(gen_random_uuid()::text, '-', ''), 12),
  password text NOT NULL DEFAULT replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')
);
COMMENT ON TABLE service_login IS 'The login that requests use: a member of stamm_service and of nothing else. One row, for the owner only.';
INSERT INTO service_login DEFAULT VALUES;
ALTER TABLE service_login ENABLE ROW LEVEL SECURITY;
ALTER TABLE service_login FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_administers ON service_login TO current_user USING (true);
