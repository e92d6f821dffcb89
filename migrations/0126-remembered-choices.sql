-- What the office chose for files with the same titles, and for words in them. (Decision 118.)
CREATE TABLE remembered_choice (
  tenant_id     uuid NOT NULL,
  key_hash      text NOT NULL CHECK (length(key_hash) = 64),
  choice        text NOT NULL,
  actor         text NOT NULL,
  remembered_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, key_hash)
);
COMMENT ON TABLE remembered_choice IS 'Where the columns of a file go, and what a word in it means. The next import begins with it.';
COMMENT ON COLUMN remembered_choice.key_hash IS 'SHA-256 of the titles or the word.';
COMMENT ON COLUMN remembered_choice.choice IS 'As the import page writes and reads it.';
SELECT isolate_tenants('remembered_choice');
