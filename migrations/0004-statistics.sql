-- What the planner knows of a table comes from PostgreSQL's own upkeep, which comes by once a minute. An import fills
-- tables faster than that, and a plan for an empty table reads all rows of a tenant to find one of them.

-- Looks at the tables that have doubled since the last look. Tables that somebody else looks at are left out.
CREATE FUNCTION refresh_statistics() RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  grown regclass;
BEGIN
  FOR grown IN
    SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relrowsecurity
      AND pg_relation_size(oid) > CASE WHEN reltuples < 0 THEN 0
        ELSE 2 * relpages::bigint * current_setting('block_size')::bigint END
  LOOP
    EXECUTE format('ANALYZE (SKIP_LOCKED) %s', grown);
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION refresh_statistics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION refresh_statistics TO stamm_service;
