-- Before PostgreSQL 18 nothing can be expected of a new table (expect_one_tenant). There the statistics of a table of one
-- page are refreshed each time its rows have doubled: from the second row on they tell its indexes apart. (Decision 87.)
CREATE OR REPLACE FUNCTION refresh_statistics() RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  few_pages CONSTANT integer := 64;
  has_expectations CONSTANT boolean := current_setting('server_version_num')::integer >= 180000;
  grown record;
  has_doubled boolean;
BEGIN
  FOR grown IN
    SELECT oid::regclass AS name, pages, reltuples FROM pg_class, LATERAL (
      SELECT pg_relation_size(oid) / current_setting('block_size')::bigint AS pages OFFSET 0) AS today
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relrowsecurity
      AND (pages > CASE WHEN pages <= few_pages THEN greatest(relpages, 1) ELSE 2 * relpages::bigint END
        OR pages = 1 AND NOT has_expectations)
  LOOP
    IF grown.pages = 1 THEN
      EXECUTE format('SELECT count(*) >= %s FROM %s', 2 * greatest(grown.reltuples, 1), grown.name) INTO has_doubled;
      CONTINUE WHEN NOT has_doubled;
    END IF;
    EXECUTE format('ANALYZE (SKIP_LOCKED) %s', grown.name);
  END LOOP;
END $$;
