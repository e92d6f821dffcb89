-- The bin: deleted objects stay restorable for 30 days, with everything that went with them. (Decision 59.)

CREATE TABLE deleted_object (
  tenant_id   uuid NOT NULL,
  resource    text NOT NULL,
  id          uuid NOT NULL,
  root_id     uuid NOT NULL,
  deleted_at  timestamptz NOT NULL DEFAULT now(),
  version     integer NOT NULL,
  actor       text NOT NULL,
  actor_id    uuid,
  content     json NOT NULL,
  search_text text NOT NULL,
  PRIMARY KEY (tenant_id, resource, id)
);
COMMENT ON TABLE deleted_object IS 'Objects that were deleted in the last 30 days. Written in the transaction that deletes them.';
COMMENT ON COLUMN deleted_object.root_id IS 'The object that the request deleted: this one, or the owner that took it along. One root is restored as one.';
COMMENT ON COLUMN deleted_object.version IS 'The last one before the deletion.';
COMMENT ON COLUMN deleted_object.actor IS 'As in the journal.';
COMMENT ON COLUMN deleted_object.content IS 'The row by column names, as json: jsonb would rewrite numbers and reorder names.';
COMMENT ON COLUMN deleted_object.search_text IS 'Its texts in the spelling of fold().';
CREATE INDEX deleted_object_by_root ON deleted_object (tenant_id, root_id, resource);
CREATE INDEX deleted_object_by_time ON deleted_object (tenant_id, deleted_at, id);
CREATE INDEX deleted_object_by_age ON deleted_object (deleted_at);
SELECT isolate_tenants('deleted_object');

-- Removes what is too old to be restored, at most so many per call, and returns their number.
CREATE FUNCTION forget_deleted_objects(oldest timestamptz, most integer) RETURNS integer
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH old AS (
    SELECT tenant_id, resource, id FROM deleted_object
    WHERE deleted_at < oldest ORDER BY deleted_at LIMIT most FOR UPDATE SKIP LOCKED
  ), removed AS (
    DELETE FROM deleted_object USING old
    WHERE deleted_object.tenant_id = old.tenant_id AND deleted_object.resource = old.resource AND deleted_object.id = old.id
    RETURNING 1
  )
  SELECT count(*)::integer FROM removed
$$;
REVOKE ALL ON FUNCTION forget_deleted_objects FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_deleted_objects TO stamm_service;
