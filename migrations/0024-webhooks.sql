-- Webhooks: where changes are sent, how far each endpoint has got, and the result of each attempt.

CREATE TABLE webhook (
  tenant_id               uuid NOT NULL REFERENCES tenant,
  id                      uuid NOT NULL,
  url                     text NOT NULL,
  resources               text[],
  secret                  text NOT NULL,
  previous_secret         text,
  previous_secret_ends_at timestamptz,
  created_at              timestamptz NOT NULL DEFAULT now(),
  last_position           bigint NOT NULL,
  failed_attempts         integer NOT NULL DEFAULT 0,
  failing_since           timestamptz,
  next_attempt_at         timestamptz NOT NULL DEFAULT now(),
  paused_at               timestamptz,
  paused_because          text CHECK (paused_because IN ('ASKED', 'GONE', 'FAILED')),
  lease                   uuid,
  leased_until            timestamptz,
  PRIMARY KEY (tenant_id, id),
  CHECK ((paused_at IS NULL) = (paused_because IS NULL))
) WITH (fillfactor = 70);
COMMENT ON TABLE webhook IS 'An endpoint that receives the changes of a tenant, at most ten each.';
COMMENT ON COLUMN webhook.resources IS 'Types that it receives; NULL for all.';
COMMENT ON COLUMN webhook.secret IS 'Signs each message, so it cannot be a hash.';
COMMENT ON COLUMN webhook.last_position IS 'Position in the journal up to which everything is delivered or not wanted.';
COMMENT ON COLUMN webhook.lease IS 'The only sender that may move last_position. A new one for each claim, so a late sender changes nothing.';
CREATE INDEX webhook_due ON webhook (next_attempt_at) WHERE paused_at IS NULL;

CREATE TABLE webhook_delivery (
  tenant_id   uuid NOT NULL,
  webhook_id  uuid NOT NULL,
  id          uuid NOT NULL,
  at          timestamptz NOT NULL DEFAULT now(),
  type        text NOT NULL,
  position    bigint,
  status      smallint,
  error       text,
  duration_ms integer NOT NULL,
  answer      text,
  PRIMARY KEY (tenant_id, webhook_id, id),
  FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhook ON DELETE CASCADE
);
COMMENT ON TABLE webhook_delivery IS 'Attempts of the last 30 days, the newest of them where there are too many.';
COMMENT ON COLUMN webhook_delivery.id IS 'Begins with the time, so ids sort like it.';
COMMENT ON COLUMN webhook_delivery.position IS 'The entry of the journal; NULL for a test.';
COMMENT ON COLUMN webhook_delivery.status IS 'HTTP status; NULL where none came, and error says why.';
COMMENT ON COLUMN webhook_delivery.answer IS 'The first kilobyte of the answer.';
CREATE INDEX webhook_delivery_by_age ON webhook_delivery (at);
CREATE INDEX webhook_delivery_with_answer ON webhook_delivery (tenant_id, webhook_id, id) WHERE answer IS NOT NULL;

SELECT isolate_tenants(name) FROM unnest(ARRAY['webhook', 'webhook_delivery']::regclass[]) AS name;

-- Renews the leases that a sender holds and gives it more endpoints with work to do, the longest waiting first. It returns
-- neither addresses nor secrets: the sender reads those as the tenant.
CREATE FUNCTION claim_webhooks(held_tenants uuid[], held_ids uuid[], held_leases uuid[], lease_ms integer, most integer)
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
    WHERE waiting.paused_at IS NULL AND waiting.next_attempt_at <= now()
      AND (waiting.leased_until IS NULL OR waiting.leased_until <= now())
      AND head.last_position > waiting.last_position
    ORDER BY waiting.next_attempt_at LIMIT most FOR UPDATE OF waiting SKIP LOCKED
  ), claimed AS (
    UPDATE webhook SET lease = gen_random_uuid(), leased_until = now() + lease_ms * interval '1 millisecond'
    FROM due WHERE webhook.tenant_id = due.tenant_id AND webhook.id = due.id
    RETURNING webhook.tenant_id, webhook.id, webhook.lease
  )
  SELECT * FROM renewed UNION ALL SELECT * FROM claimed
$$;

-- Keeps the log within its bounds and ends replaced secrets; one process at a time does it, every hour.
CREATE FUNCTION trim_webhook_deliveries(oldest timestamptz, rows_each integer, answers_each integer) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  endpoint record;
  cut uuid;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('stamm: trim webhook deliveries', 0)) THEN RETURN; END IF;
  DELETE FROM webhook_delivery WHERE at < oldest;
  FOR endpoint IN SELECT tenant_id, id FROM webhook LOOP
    SELECT id INTO cut FROM webhook_delivery
    WHERE tenant_id = endpoint.tenant_id AND webhook_id = endpoint.id ORDER BY id DESC OFFSET rows_each LIMIT 1;
    DELETE FROM webhook_delivery WHERE tenant_id = endpoint.tenant_id AND webhook_id = endpoint.id AND id <= cut;
    SELECT id INTO cut FROM webhook_delivery
    WHERE tenant_id = endpoint.tenant_id AND webhook_id = endpoint.id AND answer IS NOT NULL
    ORDER BY id DESC OFFSET answers_each LIMIT 1;
    UPDATE webhook_delivery SET answer = NULL
    WHERE tenant_id = endpoint.tenant_id AND webhook_id = endpoint.id AND answer IS NOT NULL AND id <= cut;
  END LOOP;
  UPDATE webhook SET previous_secret = NULL, previous_secret_ends_at = NULL WHERE previous_secret_ends_at < now();
END $$;

REVOKE ALL ON FUNCTION claim_webhooks, trim_webhook_deliveries FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_webhooks, trim_webhook_deliveries TO stamm_service;
