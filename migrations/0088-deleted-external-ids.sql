-- Finds an object in the bin by its external id: `revive=false` keeps a nightly run from creating it again.
ALTER TABLE deleted_object ADD COLUMN external_id text;
COMMENT ON COLUMN deleted_object.external_id IS 'As in the content. A column of its own, because an index under row-level security needs one.';
