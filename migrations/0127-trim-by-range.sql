-- A range in place of a list of ids: for a table without statistics PostgreSQL compared each row with each id of the list.
CREATE OR REPLACE FUNCTION trim_recorded_requests(tenants uuid[], oldest uuid, rows_each integer, rows_in_all integer, bodies_each integer)
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
    SELECT surplus.id INTO cut FROM (
      SELECT id FROM recorded_request WHERE tenant_id = tenant AND id <= greatest(cut, oldest) ORDER BY id LIMIT 20000
    ) AS surplus ORDER BY id DESC LIMIT 1;
    DELETE FROM recorded_request WHERE tenant_id = tenant AND id <= cut;
    SELECT id INTO cut FROM recorded_request WHERE tenant_id = tenant AND body IS NOT NULL
    ORDER BY id DESC OFFSET least(bodies_each, share) LIMIT 1;
    UPDATE recorded_request SET body = NULL WHERE tenant_id = tenant AND body IS NOT NULL AND id <= cut;
  END LOOP;
  DELETE FROM request_hour WHERE hour < now() - interval '31 days' AND (tenants IS NULL OR tenant_id = ANY (tenants));
  DELETE FROM request_erasure WHERE erased_at < now() - interval '1 hour' AND tenants IS NULL;
END $$;
