-- A merge is undone as an import is: its entries of the journal backwards, then the names. (Decision 123.)
ALTER TABLE import_run
  ADD COLUMN object_id uuid,
  ADD COLUMN former_names json;
COMMENT ON COLUMN import_run.object_id IS 'Of a merge: the object that stayed. NULL for an import.';
COMMENT ON COLUMN import_run.former_names IS 'Of a merge: former names of the merged objects, which led to them before it.';
