-- People are identified by id. A name is only there to read: everybody chooses their own.

ALTER TABLE journal ADD COLUMN actor_id uuid;
COMMENT ON COLUMN journal.actor_id IS
  'Person who acted; NULL for an API key and the command line, and for entries older than this column.';
COMMENT ON COLUMN journal.actor IS
  'Name of the person at that time, "key …abcd", "command line" or "demo". It identifies nobody: actor_id does.';

ALTER TABLE api_key ADD COLUMN created_by_id uuid;
COMMENT ON COLUMN api_key.created_by_id IS 'Person who made it; NULL for the command line.';

ALTER TABLE audit_entry ADD COLUMN actor_type text NOT NULL DEFAULT 'PERSON'
  CHECK (actor_type IN ('PERSON', 'KEY', 'COMMAND_LINE', 'STRANGER'));
ALTER TABLE audit_entry ALTER COLUMN actor_type DROP DEFAULT;
COMMENT ON COLUMN audit_entry.actor_type IS 'STRANGER: nobody was signed in, as when a sign-in fails.';
COMMENT ON COLUMN audit_entry.details IS 'Small facts such as {"role": {"from": "PFLEGE", "to": "VERWALTUNG"}}.';

-- The order in which the office reads it.
CREATE INDEX audit_entry_by_time ON audit_entry (tenant_id, at, id);
-- The order in which it is forgotten, for all tenants together.
CREATE INDEX audit_entry_by_age ON audit_entry (at);
