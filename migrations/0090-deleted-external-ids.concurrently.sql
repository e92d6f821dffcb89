CREATE INDEX CONCURRENTLY deleted_object_by_external_id ON deleted_object (tenant_id, resource, external_id) WHERE external_id IS NOT NULL;
