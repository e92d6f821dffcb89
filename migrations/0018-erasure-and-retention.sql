-- Erasure leaves nothing, and everything that is kept has an end.

-- A key may name a person. Its hash keeps a retry from writing twice as well as its text does.
UPDATE idempotent_request SET key = encode(sha256(convert_to(key, 'UTF8')), 'hex');
COMMENT ON COLUMN idempotent_request.key IS 'SHA-256 of the key that was sent.';

-- Entries that still hold what changed or the name of a person. Creations by a key, which are most, are not among them.
CREATE INDEX journal_with_content ON journal (at) WHERE changes IS NOT NULL OR (actor_id IS NOT NULL AND actor <> 'person');

-- Clears the content of old entries, some at a time; answers how many. The entries stay, because the feed has no gaps.
CREATE FUNCTION forget_journal_content(oldest timestamptz, most integer) RETURNS integer
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH old AS (
    SELECT tenant_id, position FROM journal
    WHERE at < oldest AND (changes IS NOT NULL OR (actor_id IS NOT NULL AND actor <> 'person'))
    ORDER BY at LIMIT most FOR UPDATE SKIP LOCKED
  ), cleared AS (
    UPDATE journal SET changes = NULL, actor = CASE WHEN actor_id IS NULL THEN actor ELSE 'person' END
    FROM old WHERE journal.tenant_id = old.tenant_id AND journal.position = old.position
    RETURNING 1
  )
  SELECT count(*)::integer FROM cleared
$$;

-- The only way by which an audit entry goes. The limit keeps an attacker who took over the service from emptying it.
CREATE FUNCTION forget_audit_entries(oldest timestamptz, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  forgotten integer;
BEGIN
  IF oldest > now() - interval '1 day' THEN RAISE EXCEPTION 'the last day of the audit record is kept'; END IF;
  DELETE FROM audit_entry USING (
    SELECT tenant_id, id FROM audit_entry WHERE at < oldest ORDER BY at LIMIT most FOR UPDATE SKIP LOCKED
  ) AS old WHERE audit_entry.tenant_id = old.tenant_id AND audit_entry.id = old.id;
  GET DIAGNOSTICS forgotten = ROW_COUNT;
  -- An ended key is kept to explain its 401; who made it is no longer of interest.
  UPDATE api_key SET created_by = 'person' WHERE ended_at < oldest AND created_by_id IS NOT NULL AND created_by <> 'person';
  RETURN forgotten;
END $$;

REVOKE ALL ON FUNCTION forget_journal_content, forget_audit_entries FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_journal_content, forget_audit_entries TO stamm_service;
