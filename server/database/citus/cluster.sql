-- Functions of a Citus cluster, made when its tables are distributed. A single PostgreSQL has none of them.

-- Run a statement about a tenant's rows on the worker that has them. The statement names the shards. It runs as the role
-- that sent it, below the same row-level security.
CREATE OR REPLACE FUNCTION run_on_shard(tenant uuid, statement text) RETURNS SETOF record
  LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE statement;
END $$;

-- The same for a statement without result columns; returns the number of its rows.
CREATE OR REPLACE FUNCTION count_on_shard(tenant uuid, statement text) RETURNS bigint
  LANGUAGE plpgsql AS $$
DECLARE
  counted bigint;
BEGIN
  EXECUTE statement;
  GET DIAGNOSTICS counted = ROW_COUNT;
  RETURN counted;
END $$;

-- Keeps a tenant's shards in their place until the transaction ends. It takes the lock that Citus takes before a write (5
-- is SHARE). A move or split and the transaction wait for each other.
CREATE OR REPLACE FUNCTION hold_shards(tenant uuid, head bigint) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF head = get_shard_id_for_distribution_column('journal_head', tenant) THEN
    PERFORM lock_shard_metadata(5, ARRAY[head]);
    IF head = get_shard_id_for_distribution_column('journal_head', tenant) THEN RETURN; END IF;
  END IF;
  RAISE EXCEPTION 'the rows of the tenant are in other shards now' USING ERRCODE = 'serialization_failure';
END $$;

REVOKE ALL ON FUNCTION run_on_shard, count_on_shard, hold_shards FROM PUBLIC;
GRANT EXECUTE ON FUNCTION run_on_shard, count_on_shard, hold_shards TO stamm_service;

-- Citus takes neither LIMIT nor SKIP LOCKED in a change of several shards. So rows are looked up first, and each tenant's
-- are changed on its worker. One process at a time does it; the others leave it the work.
CREATE OR REPLACE FUNCTION forget_journal_content(oldest timestamptz, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  old record;
  cleared integer := 0;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('stamm: forget journal content', 0)) THEN RETURN 0; END IF;
  FOR old IN
    SELECT found.tenant_id, array_agg(found.position) AS positions FROM (
      SELECT tenant_id, position FROM journal
      WHERE at < oldest AND (changes IS NOT NULL OR (actor_id IS NOT NULL AND actor <> 'person'))
      ORDER BY at LIMIT most) AS found
    GROUP BY found.tenant_id
  LOOP
    UPDATE journal SET changes = NULL, actor = CASE WHEN actor_id IS NULL THEN actor ELSE 'person' END
    WHERE tenant_id = old.tenant_id AND position = ANY (old.positions);
    cleared := cleared + cardinality(old.positions);
  END LOOP;
  RETURN cleared;
END $$;

CREATE OR REPLACE FUNCTION forget_deleted_objects(oldest timestamptz, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  old record;
  removed integer := 0;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('stamm: forget deleted objects', 0)) THEN RETURN 0; END IF;
  FOR old IN
    SELECT found.tenant_id, array_agg(found.id) AS ids FROM (
      SELECT tenant_id, id FROM deleted_object WHERE deleted_at < oldest ORDER BY deleted_at LIMIT most) AS found
    GROUP BY found.tenant_id
  LOOP
    DELETE FROM deleted_object WHERE tenant_id = old.tenant_id AND id = ANY (old.ids) AND deleted_at < oldest;
    DELETE FROM former_id WHERE tenant_id = old.tenant_id AND id = ANY (old.ids);
    DELETE FROM former_external_id WHERE tenant_id = old.tenant_id AND id = ANY (old.ids);
    removed := removed + cardinality(old.ids);
  END LOOP;
  RETURN removed;
END $$;

CREATE OR REPLACE FUNCTION forget_import_runs(oldest timestamptz, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  old record;
  removed integer := 0;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('stamm: forget import runs', 0)) THEN RETURN 0; END IF;
  FOR old IN
    SELECT found.tenant_id, array_agg(found.id) AS ids FROM (
      SELECT tenant_id, id FROM import_run WHERE written_at < oldest ORDER BY written_at LIMIT most) AS found
    GROUP BY found.tenant_id
  LOOP
    DELETE FROM import_run WHERE tenant_id = old.tenant_id AND id = ANY (old.ids);
    removed := removed + cardinality(old.ids);
  END LOOP;
  RETURN removed;
END $$;

-- The journals' heads are on the workers: they are read first, for the endpoints that have waited longest.
CREATE OR REPLACE FUNCTION claim_webhooks(held_tenants uuid[], held_ids uuid[], held_leases uuid[], lease_ms integer, most integer)
  RETURNS TABLE (tenant_id uuid, id uuid, lease uuid)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  sought uuid[] := ARRAY(
    SELECT DISTINCT waiting.tenant_id FROM (
      SELECT tenant_id FROM webhook
      WHERE paused_at IS NULL AND (failed_attempts = 0 OR next_attempt_at <= now())
        AND (leased_until IS NULL OR leased_until NOT BETWEEN now() AND now() + lease_ms * interval '2 milliseconds')
      ORDER BY next_attempt_at LIMIT 10000) AS waiting);
  tenants uuid[];
  positions bigint[];
BEGIN
  SELECT array_agg(head.tenant_id), array_agg(head.last_position) INTO tenants, positions
  FROM journal_head AS head WHERE head.tenant_id = ANY (sought);
  RETURN QUERY
  WITH renewed AS (
    UPDATE webhook SET leased_until = now() + lease_ms * interval '1 millisecond'
    FROM unnest(held_tenants, held_ids, held_leases) AS held (tenant_id, id, lease)
    WHERE webhook.tenant_id = held.tenant_id AND webhook.id = held.id AND webhook.lease = held.lease
      AND webhook.leased_until > now()
    RETURNING webhook.tenant_id, webhook.id, webhook.lease
  ), due AS (
    SELECT waiting.tenant_id, waiting.id
    FROM webhook AS waiting JOIN unnest(tenants, positions) AS head (tenant_id, last_position) USING (tenant_id)
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
  SELECT * FROM renewed UNION ALL SELECT * FROM claimed;
END $$;

-- Heads and entries are on the workers, endpoints on the coordinator. Read heads first, then the oldest entry due per
-- endpoint.
CREATE OR REPLACE FUNCTION service_figures()
  RETURNS TABLE (journal_entries numeric, webhook_queue numeric, webhook_oldest_seconds double precision)
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  watched CONSTANT uuid[] := ARRAY(SELECT DISTINCT tenant_id FROM webhook WHERE paused_at IS NULL);
  tenants uuid[];
  positions bigint[];
  waiting record;
  since timestamptz;
  oldest timestamptz;
BEGIN
  SELECT coalesce(sum(last_position), 0) INTO journal_entries FROM journal_head;
  SELECT array_agg(head.tenant_id), array_agg(head.last_position) INTO tenants, positions
  FROM journal_head AS head WHERE head.tenant_id = ANY (watched);
  webhook_queue := 0;
  FOR waiting IN
    SELECT endpoint.tenant_id, min(endpoint.last_position) AS reached, sum(head.last_position - endpoint.last_position) AS entries
    FROM webhook AS endpoint JOIN unnest(tenants, positions) AS head (tenant_id, last_position) USING (tenant_id)
    WHERE endpoint.paused_at IS NULL AND head.last_position > endpoint.last_position
    GROUP BY endpoint.tenant_id
  LOOP
    webhook_queue := webhook_queue + waiting.entries;
    SELECT at INTO since FROM journal WHERE tenant_id = waiting.tenant_id AND position = waiting.reached + 1;
    oldest := least(oldest, since);
  END LOOP;
  webhook_oldest_seconds := coalesce(extract(epoch FROM now() - oldest), 0);
  RETURN NEXT;
END $$;
