-- Imports of the last 30 days: what each wrote, to be undone as one step. (Decision 66.)

CREATE TABLE import_run (
  tenant_id  uuid NOT NULL,
  id         uuid NOT NULL,
  file_name  text,
  resource   text,
  started_at timestamptz NOT NULL DEFAULT now(),
  written_at timestamptz NOT NULL DEFAULT now(),
  actor      text NOT NULL,
  actor_id   uuid,
  created    integer NOT NULL DEFAULT 0,
  changed    integer NOT NULL DEFAULT 0,
  deleted    integer NOT NULL DEFAULT 0,
  settled    integer NOT NULL DEFAULT 0,
  kept       integer NOT NULL DEFAULT 0,
  undo_started_at timestamptz,
  undo_actor text,
  undo_actor_id uuid,
  PRIMARY KEY (tenant_id, id)
);
COMMENT ON TABLE import_run IS 'Imports that stored something, or began in the office, in the last 30 days.';
COMMENT ON COLUMN import_run.file_name IS 'Of a file that was imported in the office.';
COMMENT ON COLUMN import_run.resource IS 'What the file was said to hold.';
COMMENT ON COLUMN import_run.written_at IS 'When it last stored something.';
COMMENT ON COLUMN import_run.created IS 'Journal entries by their action.';
COMMENT ON COLUMN import_run.settled IS 'Journal entries that undoing has looked at; kept counts the objects that it left as they are.';
CREATE INDEX import_run_by_time ON import_run (tenant_id, started_at, id);
CREATE INDEX import_run_by_age ON import_run (written_at);
SELECT isolate_tenants('import_run');

CREATE TABLE import_chunk (
  tenant_id      uuid NOT NULL,
  import_id      uuid NOT NULL,
  first_position bigint NOT NULL,
  last_position  bigint NOT NULL,
  open_until     bigint NOT NULL,
  PRIMARY KEY (tenant_id, import_id, first_position),
  FOREIGN KEY (tenant_id, import_id) REFERENCES import_run ON DELETE CASCADE
);
COMMENT ON TABLE import_chunk IS 'The journal entries that an import, or its undoing, wrote in one transaction. They have no gaps.';
COMMENT ON COLUMN import_chunk.open_until IS 'Entries up to here are not undone yet; before first_position there are none.';
CREATE INDEX import_chunk_open ON import_chunk (tenant_id, import_id, first_position) WHERE open_until >= first_position;
SELECT isolate_tenants('import_chunk');

CREATE TABLE import_kept (
  tenant_id  uuid NOT NULL,
  import_id  uuid NOT NULL,
  resource   text NOT NULL,
  object_id  uuid NOT NULL,
  reason     text NOT NULL,
  at         timestamptz,
  actor      text,
  actor_id   uuid,
  PRIMARY KEY (tenant_id, import_id, resource, object_id),
  FOREIGN KEY (tenant_id, import_id) REFERENCES import_run ON DELETE CASCADE
);
COMMENT ON TABLE import_kept IS 'Objects of an import that undoing it left as they are.';
COMMENT ON COLUMN import_kept.reason IS 'changed: somebody wrote it since, at that time. Otherwise the code of what is in the way.';
SELECT isolate_tenants('import_kept');

-- Removes imports that are too old to be undone, at most so many per call, and returns their number.
CREATE FUNCTION forget_import_runs(oldest timestamptz, most integer) RETURNS integer
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH old AS (
    SELECT tenant_id, id FROM import_run
    WHERE written_at < oldest ORDER BY written_at LIMIT most FOR UPDATE SKIP LOCKED
  ), removed AS (
    DELETE FROM import_run USING old WHERE import_run.tenant_id = old.tenant_id AND import_run.id = old.id
    RETURNING 1
  )
  SELECT count(*)::integer FROM removed
$$;
REVOKE ALL ON FUNCTION forget_import_runs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_import_runs TO stamm_service;
