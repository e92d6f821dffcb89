-- A transaction that names no tenant has none. Until now it had an unknown number of them: policies took that for no, but
-- the functions of the search, which ask whether a tenant is foreign, took it for no as well.
CREATE OR REPLACE FUNCTION current_tenants() RETURNS uuid[]
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce(string_to_array(nullif(current_setting('stamm.tenants', true), ''), ',')::uuid[], '{}');
