-- A clock that jumps back must not stretch windows and leases: one that begins or ends too far ahead is over.
CREATE FUNCTION is_window_over(started_at timestamptz, at timestamptz, window_seconds integer) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN abs(extract(epoch FROM at - started_at)) >= window_seconds;

REVOKE ALL ON FUNCTION is_window_over FROM PUBLIC;

CREATE OR REPLACE FUNCTION authenticate(key_hashes bytea[], request_counts bigint[], window_seconds integer)
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
      started_at = CASE WHEN is_window_over(current_window.started_at, excluded.started_at, window_seconds)
        THEN excluded.started_at ELSE current_window.started_at END,
      requests = CASE WHEN is_window_over(current_window.started_at, excluded.started_at, window_seconds)
        THEN excluded.requests ELSE current_window.requests + excluded.requests END
    RETURNING current_window.tenant_id, current_window.started_at, current_window.requests
  )
  SELECT shown.key_hash, shown.tenant_id, shown.last_four, shown.ended_by, counted.requests,
    (extract(epoch FROM counted.started_at + make_interval(secs => window_seconds) - clock_timestamp()) * 1000)::integer
  FROM shown LEFT JOIN counted USING (tenant_id)
$$;

CREATE OR REPLACE FUNCTION count_sign_in(subject_hash bytea, window_seconds integer)
  RETURNS TABLE (attempts integer, window_ends_in_ms integer)
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  INSERT INTO sign_in_attempt AS known (subject, started_at, attempts) VALUES (subject_hash, clock_timestamp(), 1)
  ON CONFLICT (subject) DO UPDATE SET
    started_at = CASE WHEN is_window_over(known.started_at, excluded.started_at, window_seconds)
      THEN excluded.started_at ELSE known.started_at END,
    attempts = CASE WHEN is_window_over(known.started_at, excluded.started_at, window_seconds)
      THEN 1 ELSE known.attempts + 1 END
  RETURNING known.attempts,
    (extract(epoch FROM known.started_at + make_interval(secs => window_seconds) - clock_timestamp()) * 1000)::integer
$$;

-- An endpoint that does not fail never waits. A lease cannot last much longer than one that is given now: a transaction that
-- began earlier may see a lease that a later one has given, so twice its time is the bound.
CREATE OR REPLACE FUNCTION claim_webhooks(held_tenants uuid[], held_ids uuid[], held_leases uuid[], lease_ms integer, most integer)
  RETURNS TABLE (tenant_id uuid, id uuid, lease uuid)
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH renewed AS (
    UPDATE webhook SET leased_until = now() + lease_ms * interval '1 millisecond'
    FROM unnest(held_tenants, held_ids, held_leases) AS held (tenant_id, id, lease)
    WHERE webhook.tenant_id = held.tenant_id AND webhook.id = held.id AND webhook.lease = held.lease
      AND webhook.leased_until > now()
    RETURNING webhook.tenant_id, webhook.id, webhook.lease
  ), due AS (
    SELECT waiting.tenant_id, waiting.id FROM webhook AS waiting JOIN journal_head AS head USING (tenant_id)
    WHERE waiting.paused_at IS NULL AND (waiting.failed_attempts = 0 OR waiting.next_attempt_at <= now())
      AND (waiting.leased_until IS NULL OR waiting.leased_until <= now()
        OR (waiting.leased_until > now() + lease_ms * interval '2 milliseconds' AND waiting.lease <> ALL (held_leases)))
      AND head.last_position > waiting.last_position
    ORDER BY waiting.next_attempt_at LIMIT most FOR UPDATE OF waiting SKIP LOCKED
  ), claimed AS (
    UPDATE webhook SET lease = gen_random_uuid(), leased_until = now() + lease_ms * interval '1 millisecond'
    FROM due WHERE webhook.tenant_id = due.tenant_id AND webhook.id = due.id
    RETURNING webhook.tenant_id, webhook.id, webhook.lease
  )
  SELECT * FROM renewed UNION ALL SELECT * FROM claimed
$$;
