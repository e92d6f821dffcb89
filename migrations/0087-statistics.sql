-- A plan made for an empty table stays in use while the table grows. All indexes that begin with the tenant then cost
-- the same, and a look-up by id can come to read all rows of a tenant. (Decision 87.)

-- Has the planner expect that all rows of a new table belong to one tenant: it then prefers the index with more columns,
-- also before the first row. Real statistics replace this. PostgreSQL takes it from version 18 on.
CREATE FUNCTION expect_one_tenant(target regclass) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('server_version_num')::integer >= 180000 THEN
    PERFORM pg_restore_attribute_stats('schemaname', nspname::text, 'relname', relname::text, 'attname', 'tenant_id',
      'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', 1::real)
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE pg_class.oid = target AND reltuples < 0;
  END IF;
END $$;
REVOKE ALL ON FUNCTION expect_one_tenant FROM PUBLIC;

SELECT expect_one_tenant(polrelid) FROM pg_policy WHERE polname = 'own_tenant';

CREATE OR REPLACE FUNCTION isolate_tenants(target regclass) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
  EXECUTE format('CREATE POLICY own_tenant ON %s TO stamm_service
    USING (CASE WHEN tenant_id = ANY ((SELECT current_tenants())::uuid[]) THEN true ELSE false END)', target);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO stamm_service', target);
  -- The database owner works for all tenants: at the command line, and in SECURITY DEFINER functions, each of which
  -- names its tenant.
  EXECUTE format('CREATE POLICY owner_administers ON %s TO current_user USING (true)', target);
  PERFORM expect_one_tenant(target);
END $$;

-- Analyses tables that have grown since their last ANALYZE, which has their statements planned again. Autovacuum comes
-- once per minute; a first synchronisation fills tables faster. A large table is analysed when it has doubled, however
-- often somebody asks. SKIP_LOCKED leaves out tables that somebody else analyses.
CREATE OR REPLACE FUNCTION refresh_statistics() RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  few_pages CONSTANT integer := 64;
  grown regclass;
BEGIN
  FOR grown IN
    SELECT oid FROM pg_class, LATERAL (
      SELECT pg_relation_size(oid) / current_setting('block_size')::bigint AS pages OFFSET 0) AS today
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relrowsecurity
      AND pages > CASE WHEN pages <= few_pages THEN greatest(relpages, 1) ELSE 2 * relpages::bigint END
  LOOP
    EXECUTE format('ANALYZE (SKIP_LOCKED) %s', grown);
  END LOOP;
END $$;
