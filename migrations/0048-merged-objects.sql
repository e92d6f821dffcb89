-- Names of objects that were merged into others. They keep answering. (Decision 67.)

CREATE TABLE former_id (
  tenant_id uuid NOT NULL,
  former_id uuid NOT NULL,
  id        uuid NOT NULL,
  merged_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, former_id)
);
COMMENT ON TABLE former_id IS 'Ids of objects that were merged into another one.';
COMMENT ON COLUMN former_id.id IS 'The object that answers now, never one that was merged itself.';
CREATE INDEX former_id_by_id ON former_id (tenant_id, id);
SELECT isolate_tenants('former_id');

CREATE TABLE former_external_id (
  tenant_id   uuid NOT NULL,
  resource    text NOT NULL,
  external_id text NOT NULL,
  id          uuid NOT NULL,
  PRIMARY KEY (tenant_id, resource, external_id)
);
COMMENT ON TABLE former_external_id IS 'External ids that a merge left without an object of their own. An object that has the id itself comes first.';
COMMENT ON COLUMN former_external_id.id IS 'The object that answers now.';
CREATE INDEX former_external_id_by_id ON former_external_id (tenant_id, id);
SELECT isolate_tenants('former_external_id');

-- Removes what is too old to be restored, at most so many per call, and returns their number. Former names of these objects go, too.
CREATE OR REPLACE FUNCTION forget_deleted_objects(oldest timestamptz, most integer) RETURNS integer
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH old AS (
    SELECT tenant_id, resource, id FROM deleted_object
    WHERE deleted_at < oldest ORDER BY deleted_at LIMIT most FOR UPDATE SKIP LOCKED
  ), removed AS (
    DELETE FROM deleted_object USING old
    WHERE deleted_object.tenant_id = old.tenant_id AND deleted_object.resource = old.resource AND deleted_object.id = old.id
    RETURNING deleted_object.tenant_id, deleted_object.id
  ), removed_ids AS (
    DELETE FROM former_id USING removed WHERE former_id.tenant_id = removed.tenant_id AND former_id.id = removed.id
  ), removed_external_ids AS (
    DELETE FROM former_external_id USING removed
    WHERE former_external_id.tenant_id = removed.tenant_id AND former_external_id.id = removed.id
  )
  SELECT count(*)::integer FROM removed
$$;
