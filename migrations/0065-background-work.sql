-- What work that no request waits for did last. Any process can read it: "doctor" and the metrics do.

CREATE TABLE background_work (
  work         text PRIMARY KEY,
  succeeded_at timestamptz,
  failed_at    timestamptz,
  error        text
);
COMMENT ON TABLE background_work IS 'When each kind of work that no request waits for last succeeded and failed, over all processes.';
COMMENT ON COLUMN background_work.error IS 'What the last failure said.';
ALTER TABLE background_work ENABLE ROW LEVEL SECURITY;
ALTER TABLE background_work FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_administers ON background_work TO current_user USING (true);

-- Notes an end of that work: a success without a reason, else a failure.
CREATE FUNCTION note_background_work(ended_work text, reason text) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  INSERT INTO background_work AS known (work, succeeded_at, failed_at, error)
  VALUES (ended_work, CASE WHEN reason IS NULL THEN now() END, CASE WHEN reason IS NOT NULL THEN now() END,
    left(reason, 300))
  ON CONFLICT (work) DO UPDATE SET succeeded_at = coalesce(excluded.succeeded_at, known.succeeded_at),
    failed_at = coalesce(excluded.failed_at, known.failed_at), error = coalesce(excluded.error, known.error)
$$;
REVOKE ALL ON FUNCTION note_background_work FROM PUBLIC;
GRANT EXECUTE ON FUNCTION note_background_work TO stamm_service;

-- Seconds since all steps of the upkeep last succeeded; NULL before the first time.
CREATE FUNCTION upkeep_age_seconds() RETURNS double precision
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT extract(epoch FROM now() - succeeded_at)::double precision FROM background_work WHERE work = 'upkeep'
$$;
REVOKE ALL ON FUNCTION upkeep_age_seconds FROM PUBLIC;
GRANT EXECUTE ON FUNCTION upkeep_age_seconds TO stamm_service;
