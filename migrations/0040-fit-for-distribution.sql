-- A table on the workers of a Citus cluster cannot refer to one on the coordinator, and tenants stay there.
ALTER TABLE journal_head DROP CONSTRAINT journal_head_tenant_id_fkey;
