-- The API calls of each tenant, for the office to look at: which arrived, what was refused and why. Written by each
-- process about once a second, never by a request, and bounded in space (server/features/call-log/recorded-calls.ts).

CREATE TABLE recorded_request (
  tenant_id      uuid NOT NULL,
  id             uuid NOT NULL,
  recorded_at    timestamptz NOT NULL DEFAULT now(),
  method         text NOT NULL,
  route          text NOT NULL,
  path           text NOT NULL,
  status         smallint NOT NULL,
  duration_ms    real NOT NULL,
  address        text NOT NULL,
  user_agent     text NOT NULL,
  code           text,
  faults         json,
  ignored_fields json,
  body           text,
  PRIMARY KEY (tenant_id, id)
);
COMMENT ON TABLE recorded_request IS 'Calls of the last 30 days, the newest of them where there are too many.';
COMMENT ON COLUMN recorded_request.id IS 'The request id. It begins with the moment of the request, so that ids sort like time.';
COMMENT ON COLUMN recorded_request.route IS 'The pattern of the path, such as /api/v1/sites/:id, by which errors are grouped.';
COMMENT ON COLUMN recorded_request.body IS 'Of refused calls only, as it was sent; shown with its personal data hidden.';
-- What the live list asks for once a second; ids do not do, since long requests are recorded after later ones.
CREATE INDEX recorded_request_by_arrival ON recorded_request (tenant_id, recorded_at);
CREATE INDEX recorded_request_with_error ON recorded_request (tenant_id, id) WHERE status >= 400;
CREATE INDEX recorded_request_with_body ON recorded_request (tenant_id, id) WHERE body IS NOT NULL;

CREATE TABLE request_hour (
  tenant_id  uuid NOT NULL,
  hour       timestamptz NOT NULL,
  requests   bigint NOT NULL,
  refusals   bigint NOT NULL,
  failures   bigint NOT NULL,
  unrecorded bigint NOT NULL,
  PRIMARY KEY (tenant_id, hour)
);
COMMENT ON TABLE request_hour IS 'How many calls each hour had, those included of which nothing else is recorded.';
COMMENT ON COLUMN request_hour.unrecorded IS 'Calls that were only counted, because there were too many or the database was behind.';

CREATE TABLE request_erasure (
  tenant_id uuid PRIMARY KEY,
  erased_at timestamptz NOT NULL
);
COMMENT ON TABLE request_erasure IS
  'When recorded bodies were last erased with a person: bodies that a process still holds at that time are not written.';

CREATE TABLE checklist (
  tenant_id       uuid PRIMARY KEY,
  has_copied_call boolean NOT NULL DEFAULT false,
  has_import      boolean NOT NULL DEFAULT false,
  is_dismissed    boolean NOT NULL DEFAULT false,
  first_request   json
);
COMMENT ON TABLE checklist IS 'What a new business has done of its first steps, as far as nothing else tells it.';
COMMENT ON COLUMN checklist.first_request IS 'The first call that was seen, which the record of calls forgets one day.';

SELECT isolate_tenants(name)
FROM unnest(ARRAY['recorded_request', 'request_hour', 'request_erasure', 'checklist']::regclass[]) AS name;

-- Keeps the record within its bounds, for these tenants or for all. Each tenant has the same share of the whole. What is
-- much too much goes in several calls; one process at a time does it.
CREATE FUNCTION trim_recorded_requests(tenants uuid[], oldest uuid, rows_each integer, rows_in_all integer, bodies_each integer)
  RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  tenant uuid;
  cut uuid;
  share integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('stamm: trim recorded requests', 0)) THEN RETURN; END IF;
  SELECT least(rows_each, rows_in_all / greatest(count(DISTINCT known.tenant_id), 1)) INTO share FROM request_hour AS known;
  FOR tenant IN
    SELECT DISTINCT known.tenant_id FROM request_hour AS known WHERE tenants IS NULL OR known.tenant_id = ANY (tenants)
  LOOP
    SELECT id INTO cut FROM recorded_request WHERE tenant_id = tenant ORDER BY id DESC OFFSET share LIMIT 1;
    DELETE FROM recorded_request WHERE tenant_id = tenant AND id IN (
      SELECT id FROM recorded_request WHERE tenant_id = tenant AND id <= greatest(cut, oldest)
      ORDER BY id LIMIT 20000);
    SELECT id INTO cut FROM recorded_request WHERE tenant_id = tenant AND body IS NOT NULL
    ORDER BY id DESC OFFSET least(bodies_each, share) LIMIT 1;
    UPDATE recorded_request SET body = NULL WHERE tenant_id = tenant AND body IS NOT NULL AND id <= cut;
  END LOOP;
  DELETE FROM request_hour WHERE hour < now() - interval '31 days' AND (tenants IS NULL OR tenant_id = ANY (tenants));
  DELETE FROM request_erasure WHERE erased_at < now() - interval '1 hour' AND tenants IS NULL;
END $$;
REVOKE ALL ON FUNCTION trim_recorded_requests FROM PUBLIC;
GRANT EXECUTE ON FUNCTION trim_recorded_requests TO stamm_service;
