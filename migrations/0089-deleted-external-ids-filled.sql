-- A file of its own: a lock on the table would last as long as this.
UPDATE deleted_object SET external_id = content ->> 'external_id' WHERE content ->> 'external_id' IS NOT NULL;
