-- The schema, grouped by table: a table with its comments, indexes and isolation, then the functions that work on it.
-- generated/schema.sql shows the result after all migrations.
--
-- test/api/catalogue.test.ts enforces these rules for every table of a tenant:
--   * Primary key, unique constraints and foreign keys begin with tenant_id.
--   * Row-level security is enabled and forced.
--   * stamm_service, the role of requests, owns nothing.
-- They also keep the schema fit for distribution by tenant_id.
--
-- Tables without a tenant are read before the tenant is known. stamm_service has no rights on them: SECURITY DEFINER
-- functions are the only way, and each does one thing. server/database/migrations.ts creates the role.

-- word_similarity() of the search.
CREATE EXTENSION IF NOT EXISTS pg_trgm;


-- Shared functions ----------------------------------------------------------------------------------------------------

-- Tenants of the running transaction. A list, because one batch writes rows of several tenants. After a transaction a
-- pooled connection has the setting '' and not NULL: hence nullif.
CREATE FUNCTION current_tenants() RETURNS uuid[]
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce(string_to_array(nullif(current_setting('stamm.tenants', true), ''), ',')::uuid[], '{}');

-- Isolates a table of a tenant. The sub-select makes the planner call the function once per statement, not per row.
-- Statements also name their tenant. Without the CASE the planner would multiply both selectivities, expect hardly any
-- row, and pick any index.
CREATE FUNCTION isolate_tenants(target regclass) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
  EXECUTE format('CREATE POLICY own_tenant ON %s TO stamm_service
    USING (CASE WHEN tenant_id = ANY ((SELECT current_tenants())::uuid[]) THEN true ELSE false END)', target);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO stamm_service', target);
  -- The database owner works for all tenants: at the command line, and in SECURITY DEFINER functions, each of which
  -- names its tenant.
  EXECUTE format('CREATE POLICY owner_administers ON %s TO current_user USING (true)', target);
END $$;
REVOKE ALL ON FUNCTION isolate_tenants FROM PUBLIC;

-- One spelling for search and sort order: "Müller", "Mueller" and "MULLER" are equal.
CREATE FUNCTION fold(name text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
  RETURN replace(replace(replace(
    translate(replace(lower(name), 'ß', 'ss'), 'äöüáàâéèêëíìîïóòôúùûçñåø', 'aouaaaeeeeiiiiooouuucnao'),
    'ae', 'a'), 'oe', 'o'), 'ue', 'u');


-- Tenants and API keys ------------------------------------------------------------------------------------------------

CREATE TABLE tenant (
  tenant_id         uuid PRIMARY KEY,
  name              text NOT NULL CHECK (name ~ '\S'),
  created_at        timestamptz NOT NULL DEFAULT now(),
  requires_passkeys boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE tenant IS 'A business that uses Stamm.';
COMMENT ON COLUMN tenant.requires_passkeys IS 'A person without a passkey can only add one.';
SELECT isolate_tenants('tenant');

CREATE TABLE api_key (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  key_hash      bytea NOT NULL,
  last_four     text NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  ended_at      timestamptz,
  ended_by      text CHECK (ended_by IN ('REPLACED', 'DELETED')),
  last_used_at  timestamptz,
  created_by    text NOT NULL DEFAULT 'command line',
  created_by_id uuid,
  PRIMARY KEY (tenant_id, key_hash),
  CHECK ((ended_at IS NULL) = (ended_by IS NULL))
);
COMMENT ON TABLE api_key IS 'The live key of a tenant and its ended keys, which explain a 401.';
COMMENT ON COLUMN api_key.key_hash IS 'SHA-256 of the key. The key is shown once and not stored.';
COMMENT ON COLUMN api_key.last_used_at IS 'Rounded to the minute: written once per minute of use, not once per request.';
COMMENT ON COLUMN api_key.created_by IS 'Name of the person who made it, or "command line".';
COMMENT ON COLUMN api_key.created_by_id IS 'Person who made it; NULL for the command line.';
CREATE UNIQUE INDEX api_key_one_live_per_tenant ON api_key (tenant_id) WHERE ended_at IS NULL;
CREATE INDEX api_key_by_hash ON api_key (key_hash);
SELECT isolate_tenants('api_key');

-- Unlogged: a crash may lose the counts of the last minute, and counting writes no write-ahead log.
CREATE UNLOGGED TABLE request_window (
  tenant_id  uuid PRIMARY KEY,
  started_at timestamptz NOT NULL,
  requests   bigint NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE request_window IS 'Requests of each tenant in its current window of the rate limit.';
SELECT isolate_tenants('request_window');

-- Finds the tenants of many keys and counts their requests, in one statement. The statement sees every key that was
-- replaced or deleted before it began: a replaced key ends immediately on every node. It locks rows in the order of
-- tenant_id to avoid deadlocks between nodes.
CREATE FUNCTION authenticate(key_hashes bytea[], request_counts bigint[], window_seconds integer)
  RETURNS TABLE (key_hash bytea, tenant_id uuid, last_four text, ended_by text, requests bigint, window_ends_in_ms integer)
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH shown AS (
    SELECT key.key_hash, key.tenant_id, key.last_four, key.ended_by, asked.requests
    FROM unnest(key_hashes, request_counts) AS asked (key_hash, requests)
    JOIN api_key AS key ON key.key_hash = asked.key_hash
  ), counted AS (
    INSERT INTO request_window AS current_window (tenant_id, started_at, requests)
    SELECT shown.tenant_id, clock_timestamp(), shown.requests FROM shown
    WHERE shown.ended_by IS NULL AND shown.requests > 0
    ORDER BY shown.tenant_id
    ON CONFLICT (tenant_id) DO UPDATE SET
      started_at = CASE WHEN current_window.started_at + make_interval(secs => window_seconds) <= excluded.started_at
        THEN excluded.started_at ELSE current_window.started_at END,
      requests = CASE WHEN current_window.started_at + make_interval(secs => window_seconds) <= excluded.started_at
        THEN excluded.requests ELSE current_window.requests + excluded.requests END
    RETURNING current_window.tenant_id, current_window.started_at, current_window.requests
  )
  SELECT shown.key_hash, shown.tenant_id, shown.last_four, shown.ended_by, counted.requests,
    (extract(epoch FROM counted.started_at + make_interval(secs => window_seconds) - clock_timestamp()) * 1000)::integer
  FROM shown LEFT JOIN counted USING (tenant_id)
$$;
REVOKE ALL ON FUNCTION authenticate FROM PUBLIC;
GRANT EXECUTE ON FUNCTION authenticate TO stamm_service;

CREATE TABLE ended_key_use (
  tenant_id    uuid NOT NULL,
  key_hash     bytea NOT NULL,
  address      text NOT NULL,
  user_agent   text NOT NULL,
  requests     bigint NOT NULL,
  last_used_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, key_hash, address, user_agent),
  FOREIGN KEY (tenant_id, key_hash) REFERENCES api_key ON DELETE CASCADE
);
COMMENT ON TABLE ended_key_use IS 'Senders of a replaced or deleted key: 99 by name, the rest as user agent "others" without an address.';
CREATE INDEX ended_key_use_by_age ON ended_key_use (last_used_at);
SELECT isolate_tenants('ended_key_use');

-- Stores when keys were last used, and who still sends ended ones. Each process calls it a few times per minute. Each
-- statement sees everything committed before it began: the lock on the key comes first, then the count.
CREATE FUNCTION record_key_use(uses jsonb) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE api_key SET last_used_at = date_trunc('minute', used.last_used_at)
  FROM jsonb_to_recordset(uses -> 'live') AS used (tenant_id uuid, key_hash text, last_used_at timestamptz)
  WHERE api_key.tenant_id = used.tenant_id AND api_key.key_hash = decode(used.key_hash, 'hex')
    AND (api_key.last_used_at IS NULL OR api_key.last_used_at < date_trunc('minute', used.last_used_at));

  SELECT FROM api_key AS key
  WHERE (key.tenant_id, key.key_hash) IN (
    SELECT used.tenant_id, decode(used.key_hash, 'hex')
    FROM jsonb_to_recordset(uses -> 'ended') AS used (tenant_id uuid, key_hash text))
  ORDER BY key.tenant_id, key.key_hash FOR NO KEY UPDATE;

  WITH used AS (
    SELECT one.tenant_id, decode(one.key_hash, 'hex') AS key_hash, one.address, one.user_agent, one.requests, one.last_used_at
    FROM jsonb_to_recordset(uses -> 'ended')
      AS one (tenant_id uuid, key_hash text, address text, user_agent text, requests bigint, last_used_at timestamptz)
  ), ranked AS (
    SELECT used.*, known.tenant_id IS NOT NULL AS is_known,
      row_number() OVER (PARTITION BY used.tenant_id, used.key_hash, known.tenant_id IS NULL
        ORDER BY used.address = '', used.requests DESC, used.address, used.user_agent) AS place
    FROM used LEFT JOIN ended_key_use AS known USING (tenant_id, key_hash, address, user_agent)
  ), named AS (
    SELECT tenant_id, key_hash, count(*) AS rows FROM ended_key_use
    WHERE address <> '' AND (tenant_id, key_hash) IN (SELECT tenant_id, key_hash FROM used) GROUP BY 1, 2
  ), placed AS (
    SELECT ranked.*, ranked.is_known OR ranked.place <= 99 - coalesce(named.rows, 0) AS has_room
    FROM ranked LEFT JOIN named USING (tenant_id, key_hash)
  )
  INSERT INTO ended_key_use AS known (tenant_id, key_hash, address, user_agent, requests, last_used_at)
  SELECT tenant_id, key_hash, CASE WHEN has_room THEN address ELSE '' END,
    CASE WHEN has_room THEN user_agent ELSE 'others' END, sum(requests), max(last_used_at)
  FROM placed GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (tenant_id, key_hash, address, user_agent) DO UPDATE SET
    requests = known.requests + excluded.requests,
    last_used_at = greatest(known.last_used_at, excluded.last_used_at);
$$;
REVOKE ALL ON FUNCTION record_key_use FROM PUBLIC;
GRANT EXECUTE ON FUNCTION record_key_use TO stamm_service;

-- Removes senders of ended keys that have not come back; called every hour.
CREATE FUNCTION forget_ended_key_use(kept interval) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM ended_key_use WHERE last_used_at < now() - kept;
$$;
REVOKE ALL ON FUNCTION forget_ended_key_use FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_ended_key_use TO stamm_service;

-- Without a tenant. All nodes read the login here and agree on its password. A copy of the database has the same login.
CREATE TABLE service_login (
  name     text PRIMARY KEY DEFAULT 'stamm_app_' || left(replace(gen_random_uuid()::text, '-', ''), 12),
  password text NOT NULL DEFAULT replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')
);
COMMENT ON TABLE service_login IS 'The login that requests use: a member of stamm_service and of nothing else. One row, for the owner only.';
ALTER TABLE service_login ENABLE ROW LEVEL SECURITY;
ALTER TABLE service_login FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_administers ON service_login TO current_user USING (true);
INSERT INTO service_login DEFAULT VALUES;


-- Journal, retries and audit ------------------------------------------------------------------------------------------

CREATE TABLE journal_head (
  tenant_id     uuid PRIMARY KEY REFERENCES tenant,
  last_position bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON TABLE journal_head IS
  'The last position of each tenant''s journal. A writer locks it until its commit: positions have no gaps and follow commit order.';
SELECT isolate_tenants('journal_head');

CREATE TABLE journal (
  tenant_id   uuid NOT NULL,
  position    bigint NOT NULL,
  at          timestamptz NOT NULL DEFAULT now(),
  resource    text NOT NULL,
  resource_id uuid NOT NULL,
  external_id text,
  action      text NOT NULL CHECK (action IN ('CREATED', 'CHANGED', 'DELETED')),
  version     integer NOT NULL,
  actor       text NOT NULL,
  request_id  uuid,
  changes     json,
  actor_id    uuid,
  PRIMARY KEY (tenant_id, position)
);
COMMENT ON TABLE journal IS 'Every creation, change and deletion, written in the transaction that did it.';
COMMENT ON COLUMN journal.actor IS
  'Name of the person at that time, "key …abcd", "command line" or "demo". For reading only: actor_id identifies.';
COMMENT ON COLUMN journal.changes IS 'For a change: the fields that changed, each with "from" and "to".';
COMMENT ON COLUMN journal.actor_id IS 'Person who acted; NULL for an API key and the command line.';
CREATE INDEX journal_by_resource ON journal (tenant_id, resource_id, position);
-- Entries that still hold changes or the name of a person. Creations by a key, the majority, are not in it.
CREATE INDEX journal_with_content ON journal (at) WHERE changes IS NOT NULL OR (actor_id IS NOT NULL AND actor <> 'person');
SELECT isolate_tenants('journal');

-- Clears the content of old entries, at most so many per call, and returns their number. The entries stay: the feed has
-- no gaps.
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
REVOKE ALL ON FUNCTION forget_journal_content FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_journal_content TO stamm_service;

CREATE TABLE idempotent_request (
  tenant_id   uuid NOT NULL,
  key         text NOT NULL,
  fingerprint text NOT NULL,
  resource_id uuid NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, key)
);
COMMENT ON TABLE idempotent_request IS 'Creations sent with an Idempotency-Key, written in the transaction of their row.';
COMMENT ON COLUMN idempotent_request.key IS 'SHA-256 of the key that was sent: the key itself may name a person.';
COMMENT ON COLUMN idempotent_request.fingerprint IS 'SHA-256 of path and body.';
CREATE INDEX idempotent_request_by_age ON idempotent_request (created_at);
CREATE INDEX idempotent_request_by_resource ON idempotent_request (tenant_id, resource_id);
SELECT isolate_tenants('idempotent_request');

CREATE FUNCTION forget_old_requests() RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM idempotent_request WHERE created_at < now() - interval '24 hours'
$$;
REVOKE ALL ON FUNCTION forget_old_requests FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_old_requests TO stamm_service;

CREATE TABLE audit_entry (
  tenant_id  uuid NOT NULL,
  id         uuid NOT NULL,
  at         timestamptz NOT NULL DEFAULT now(),
  event      text NOT NULL,
  actor_id   uuid,
  actor      text NOT NULL,
  subject_id uuid,
  subject    text,
  address    text,
  user_agent text,
  request_id uuid,
  details    json,
  actor_type text NOT NULL CHECK (actor_type IN ('PERSON', 'KEY', 'COMMAND_LINE', 'STRANGER')),
  PRIMARY KEY (tenant_id, id)
);
COMMENT ON TABLE audit_entry IS 'Security events of a business. Append-only for the service.';
COMMENT ON COLUMN audit_entry.actor_id IS 'Person who acted; NULL for an API key, the command line or a stranger.';
COMMENT ON COLUMN audit_entry.actor IS 'Name of the actor at that time. For reading only: actor_id identifies.';
COMMENT ON COLUMN audit_entry.subject_id IS 'Person, record or key that the event is about.';
COMMENT ON COLUMN audit_entry.details IS 'Small facts such as {"role": {"from": "PFLEGE", "to": "VERWALTUNG"}}.';
COMMENT ON COLUMN audit_entry.actor_type IS 'STRANGER: nobody was signed in, as when a sign-in fails.';
-- The order in which the office reads it.
CREATE INDEX audit_entry_by_time ON audit_entry (tenant_id, at, id);
-- The order of retention, for all tenants together.
CREATE INDEX audit_entry_by_age ON audit_entry (at);
SELECT isolate_tenants('audit_entry');
REVOKE UPDATE, DELETE ON audit_entry FROM stamm_service;

-- The only way to delete an audit entry. An attacker who controls the service cannot delete the last day.
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
  -- An ended key stays to explain its 401. The name of its maker goes.
  UPDATE api_key SET created_by = 'person' WHERE ended_at < oldest AND created_by_id IS NOT NULL AND created_by <> 'person';
  RETURN forgotten;
END $$;
REVOKE ALL ON FUNCTION forget_audit_entries FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_audit_entries TO stamm_service;


-- Search (decision 20) ------------------------------------------------------------------------------------------------

CREATE TABLE search_word (
  tenant_id uuid NOT NULL,
  resource  text NOT NULL,
  word      text COLLATE "C" NOT NULL,
  id        uuid NOT NULL,
  PRIMARY KEY (tenant_id, resource, word, id)
);
COMMENT ON TABLE search_word IS 'The words by which each object is found, kept by triggers.';
COMMENT ON COLUMN search_word.resource IS 'The table of the object.';
COMMENT ON COLUMN search_word.word IS 'In the spelling of fold().';
SELECT isolate_tenants('search_word');

-- A folded text with single spaces between its words and at both ends, at most 1000 characters. Most texts hold no
-- other separators, and looking for one is faster than replacing each.
CREATE FUNCTION space_words(folded text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN ' ' || CASE WHEN folded ~ '[^a-z0-9 ]'
    THEN translate(left(folded, 1000), E'\t\n\r\u00a0!"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~«»’„“”–—', repeat(' ', 45))
    ELSE left(folded, 1000) END || ' ';

-- The words of a folded text, cut to the length that an index entry holds.
CREATE FUNCTION words_of(folded text) RETURNS SETOF text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 3
  AS $$ SELECT left(word, 60) FROM string_to_table(space_words(folded), ' ') AS word WHERE word <> '' $$;

-- Triggers that keep search_word: once per statement, not per row.
CREATE FUNCTION add_words() RETURNS trigger
  LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_word (tenant_id, resource, word, id)
  SELECT DISTINCT added.tenant_id, TG_TABLE_NAME, word, added.id FROM added, words_of(added.search_text) AS word;
  RETURN NULL;
END $$;

CREATE FUNCTION remove_words() RETURNS trigger
  LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_word AS known USING (
    SELECT removed.tenant_id, removed.id, word FROM removed, words_of(removed.search_text) AS word) AS gone
  WHERE known.tenant_id = gone.tenant_id AND known.resource = TG_TABLE_NAME AND known.word = gone.word AND known.id = gone.id;
  RETURN NULL;
END $$;

CREATE FUNCTION change_words() RETURNS trigger
  LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_word AS known USING (
    SELECT removed.tenant_id, removed.id, word FROM removed JOIN added USING (tenant_id, id), words_of(removed.search_text) AS word
    WHERE removed.search_text <> added.search_text) AS gone
  WHERE known.tenant_id = gone.tenant_id AND known.resource = TG_TABLE_NAME AND known.word = gone.word AND known.id = gone.id;
  INSERT INTO search_word (tenant_id, resource, word, id)
  SELECT DISTINCT added.tenant_id, TG_TABLE_NAME, word, added.id
  FROM removed JOIN added USING (tenant_id, id), words_of(added.search_text) AS word
  WHERE removed.search_text <> added.search_text;
  RETURN NULL;
END $$;

-- An upper bound of all words with this beginning.
CREATE FUNCTION end_of_words(beginning text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN beginning || chr(1114111);

-- The functions below read ranges in index order and stop early. The planner expects an average tenant and would
-- collect and sort whole ranges, so search(), which calls the others, disables that.

-- The beginnings among these that some word has. Words are compared with plain values: below row-level security no
-- index serves the result of a function.
CREATE FUNCTION known_beginnings(tenant uuid, table_name text, asked text[]) RETURNS text[]
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  ends text[] := ARRAY(SELECT end_of_words(beginning) FROM unnest(asked) AS beginning);
BEGIN
  RETURN ARRAY(SELECT first FROM unnest(asked, ends) AS range (first, last), LATERAL (
    SELECT FROM search_word WHERE tenant_id = tenant AND resource = table_name AND word >= first AND word < last LIMIT 1) AS known);
END $$;

-- Beginnings of known words that differ from the typed one by one mistake: a letter too many, too few or wrong, or two
-- swapped.
CREATE FUNCTION known_corrections(tenant uuid, table_name text, typed text) RETURNS text[]
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  beginnings text[] := ARRAY(SELECT left(typed, letters) FROM generate_series(0, length(typed) - 1) AS letters);
  -- Before its mistake the typed word matches the beginning of a known one.
  places CONSTANT integer := cardinality(known_beginnings(tenant, table_name, beginnings));
BEGIN
  RETURN known_beginnings(tenant, table_name, ARRAY(
    SELECT DISTINCT correction FROM generate_series(1, places) AS place,
      LATERAL (SELECT left(typed, place - 1) AS before, substr(typed, place, 1) AS letter, substr(typed, place + 1) AS after) AS part,
      LATERAL (
        SELECT before || after
        UNION ALL SELECT before || left(after, 1) || letter || substr(after, 2)
        UNION ALL SELECT before || other || rest
        FROM string_to_table('abcdefghijklmnopqrstuvwxyz', NULL) AS other, (VALUES (after), (letter || after)) AS kept (rest)
      ) AS corrected (correction)));
END $$;

-- Words similar to a typed one that begins no word. First corrections of one mistake. Then words that contain it or
-- resemble it, among those with the same first half, the same two letters, and all; each time a limited number. Numbers
-- are not guessed.
CREATE FUNCTION resembling_words(tenant uuid, table_name text, typed text) RETURNS text[]
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  size integer;
  start text;
  finish text;
  found text[];
BEGIN
  IF length(typed) < 3 OR typed ~ '^\d' THEN RETURN '{}'; END IF;
  IF length(typed) > 3 THEN
    found := known_corrections(tenant, table_name, left(typed, 30));
    IF cardinality(found) > 0 THEN RETURN found; END IF;
  END IF;
  FOR size IN SELECT DISTINCT unnest(ARRAY[greatest(2, length(typed) / 2), 2, 0]) ORDER BY 1 DESC LOOP
    -- Skip words that begin with a digit.
    start := CASE size WHEN 0 THEN 'a' ELSE left(typed, size) END;
    finish := end_of_words(left(typed, size));
    -- Skip scan: one row per distinct word.
    WITH RECURSIVE known (word, place) AS (
      (SELECT word, 1 FROM search_word
       WHERE tenant_id = tenant AND resource = table_name AND word >= start AND word < finish
       ORDER BY word LIMIT 1)
      UNION ALL
      SELECT following.word, known.place + 1 FROM known, LATERAL (
        SELECT word FROM search_word
        WHERE tenant_id = tenant AND resource = table_name AND word > known.word AND word < finish
        ORDER BY word LIMIT 1) AS following
      WHERE known.place < CASE size WHEN 0 THEN 4000 ELSE 400 END
    )
    SELECT array_agg(word) INTO found FROM (
      SELECT word FROM known WHERE strpos(word, typed) > 0 OR word_similarity(typed, word) >= 0.5 LIMIT 100) AS resembling;
    IF found IS NOT NULL THEN RETURN found; END IF;
  END LOOP;
  RETURN '{}';
END $$;

-- Ids of objects with a word that has one of these beginnings. An object with two such words appears twice.
CREATE FUNCTION ids_with_words(tenant uuid, table_name text, beginnings text[], ends text[], most integer) RETURNS uuid[]
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(SELECT known.id FROM unnest(beginnings, ends) AS range (first, last), LATERAL (
    SELECT id FROM search_word WHERE tenant_id = tenant AND resource = table_name
      AND word >= range.first AND word < range.last ORDER BY word, id LIMIT most) AS known LIMIT most);
END $$;

-- Ids of objects that have, for each word asked for, a word that begins with it or else resembles it. Ids may repeat.
-- An array, because handing over a thousand ids as rows took a sixth of the time.
CREATE FUNCTION search(tenant uuid, table_name text, asked text[], most integer) RETURNS uuid[]
  LANGUAGE plpgsql STABLE SET enable_bitmapscan = off SET enable_sort = off SET work_mem = '64MB' AS $$
DECLARE
  most_words CONSTANT integer := 8;
  most_compared CONSTANT integer := 5000;
  typed text;
  beginnings text[];
  ends text[];
  ids uuid[];
  rarest uuid[];
  conditions text := '';
  ranges text[] := '{}';
BEGIN
  FOR typed IN
    SELECT word FROM words_of(fold(array_to_string(asked, ' '))) AS word
    GROUP BY word ORDER BY length(word) DESC LIMIT most_words
  LOOP
    beginnings := ARRAY[typed];
    ends := ARRAY[end_of_words(typed)];
    ids := ids_with_words(tenant, table_name, beginnings, ends, most);
    IF cardinality(ids) = 0 THEN
      beginnings := resembling_words(tenant, table_name, typed);
      ends := ARRAY(SELECT end_of_words(beginning) FROM unnest(beginnings) AS beginning);
      ids := ids_with_words(tenant, table_name, beginnings, ends, most);
    END IF;
    IF cardinality(ids) = 0 THEN RETURN '{}'; END IF;
    IF rarest IS NULL OR cardinality(ids) < cardinality(rarest) THEN rarest := ids; END IF;
    conditions := conditions || format(' AND space_words(found.search_text) LIKE ANY (%L)',
      ARRAY(SELECT '% ' || beginning || '%' FROM unnest(beginnings) AS beginning));
    ranges := ranges || format('SELECT known.id FROM unnest(%L::text[], %L::text[]) AS range (first, last), LATERAL (
      SELECT id FROM search_word WHERE tenant_id = $1 AND resource = $2
        AND word >= range.first AND word < range.last ORDER BY word, id OFFSET 0) AS known', beginnings, ends);
  END LOOP;
  IF cardinality(ranges) <= 1 THEN RETURN coalesce(rarest, '{}'); END IF;
  -- A rare word leaves few objects: compare their texts with the other words. If all words are common, so usually are
  -- objects with all of them: compare some thousand.
  IF cardinality(rarest) = most THEN
    EXECUTE format('SELECT ARRAY(%s LIMIT $3)', ranges[1]) INTO rarest USING tenant, table_name, most_compared;
  END IF;
  EXECUTE format('SELECT ARRAY(SELECT found.id FROM %I AS found
    WHERE found.tenant_id = $1 AND found.id = ANY ($2) %s LIMIT $3)', table_name, conditions)
    INTO ids USING tenant, rarest, most;
  IF cardinality(rarest) < most_compared OR cardinality(ids) = most THEN
    RETURN ids;
  END IF;
  -- If too few of them match, intersect all objects of each word.
  EXECUTE format('SELECT ARRAY(%s LIMIT $3)', array_to_string(ranges, ' INTERSECT ')) INTO ids USING tenant, table_name, most;
  RETURN ids;
END $$;

REVOKE ALL ON FUNCTION space_words, words_of, add_words, remove_words, change_words, end_of_words, known_beginnings,
  known_corrections, resembling_words, ids_with_words, search FROM PUBLIC;
GRANT EXECUTE ON FUNCTION space_words, words_of, add_words, remove_words, change_words, end_of_words, known_beginnings,
  known_corrections, resembling_words, ids_with_words, search TO stamm_service;


-- Resources -----------------------------------------------------------------------------------------------------------
-- Columns follow the definitions in server/resources: a nested field is a column named by its whole path. tenant_id has
-- no foreign key: it comes from the key's own row, and each check would lock the row of the tenant. Only owners have
-- foreign keys: everything else may arrive in any order.

-- Adds the triggers that keep search_word, and the words of rows that exist already.
CREATE FUNCTION prepare_search(target regclass) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER add_words AFTER INSERT ON %s
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION add_words()', target);
  EXECUTE format('CREATE TRIGGER change_words AFTER UPDATE ON %s
    REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION change_words()', target);
  EXECUTE format('CREATE TRIGGER remove_words AFTER DELETE ON %s
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_words()', target);
  EXECUTE format('INSERT INTO search_word (tenant_id, resource, word, id)
    SELECT DISTINCT tenant_id, %1$L, word, id FROM %1$s, words_of(search_text) AS word', target);
END $$;

-- Adds to a table the parts that every resource has. sort_name and search_text are columns and not expressions, because
-- below row-level security an index serves only comparisons of plain columns.
CREATE FUNCTION prepare_resource(target regclass, sorted_by text, searched text) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %1$s
    ADD COLUMN sort_name text COLLATE "C" GENERATED ALWAYS AS (fold(%2$s)) STORED,
    ADD COLUMN search_text text GENERATED ALWAYS AS (fold(%3$s)) STORED,
    ADD CONSTRAINT %1$s_external_id_unique UNIQUE (tenant_id, external_id)', target, sorted_by, searched);
  EXECUTE format('CREATE INDEX %1$s_by_name ON %1$s (tenant_id, sort_name, id)', target);
  EXECUTE format('CREATE INDEX %1$s_by_update ON %1$s (tenant_id, updated_at, id)', target);
  PERFORM isolate_tenants(target);
  PERFORM prepare_search(target);
END $$;

-- Addresses have no maximum length, but index entries do: filters compare the first 100 characters.
CREATE FUNCTION prepare_address(target regclass) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s
    ADD COLUMN address_city_start text GENERATED ALWAYS AS (left(address_city, 100)) STORED,
    ADD COLUMN address_zip_code_start text GENERATED ALWAYS AS (left(address_zip_code, 100)) STORED', target);
  EXECUTE format('CREATE INDEX %1$s_by_city ON %1$s (tenant_id, address_city_start, id)', target);
  EXECUTE format('CREATE INDEX %1$s_by_zip_code ON %1$s (tenant_id, address_zip_code_start, id)', target);
END $$;
REVOKE ALL ON FUNCTION prepare_search, prepare_resource, prepare_address FROM PUBLIC;

CREATE TABLE customer (
  tenant_id            uuid NOT NULL,
  id                   uuid NOT NULL,
  external_id          text,
  version              integer NOT NULL DEFAULT 1,
  created_at           timestamptz NOT NULL DEFAULT now(),
  updated_at           timestamptz NOT NULL DEFAULT now(),
  company_name         text NOT NULL,
  address_street_name  text NOT NULL,
  address_house_number text NOT NULL,
  address_zip_code     text NOT NULL,
  address_city         text NOT NULL,
  address_location_lat double precision,
  address_location_lng double precision,
  customer_number      text,
  email                text,
  phone                text,
  vat_id               text,
  comment              text,
  status               text NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT customer_customer_number_unique UNIQUE (tenant_id, customer_number)
);
COMMENT ON TABLE customer IS 'A customer of the business: the owner of sites and plants.';
SELECT prepare_resource('customer', 'company_name', 'company_name || '' '' || coalesce(customer_number, '''')');
SELECT prepare_address('customer');

CREATE TABLE site (
  tenant_id                               uuid NOT NULL,
  id                                      uuid NOT NULL,
  external_id                             text,
  version                                 integer NOT NULL DEFAULT 1,
  created_at                              timestamptz NOT NULL DEFAULT now(),
  updated_at                              timestamptz NOT NULL DEFAULT now(),
  customer_id                             uuid NOT NULL,
  name                                    text NOT NULL,
  address_street_name                     text NOT NULL,
  address_house_number                    text NOT NULL,
  address_zip_code                        text NOT NULL,
  address_city                            text NOT NULL,
  address_location_lat                    double precision,
  address_location_lng                    double precision,
  needs_appointment                       boolean NOT NULL,
  has_key                                 boolean NOT NULL,
  comment                                 text,
  appointment_preparation_time_in_minutes bigint,
  attending_intervals                     json,
  attending_intervals_is_known            boolean,
  opening_hours                           json NOT NULL,
  opening_hours_is_known                  boolean NOT NULL,
  service_record_recipient_id             uuid,
  call_out_fee                            numeric,
  assigned_employee_id                    uuid,
  contact_person_id                       uuid,
  contract_id                             uuid,
  valid_from                              date,
  valid_until                             date,
  time_zone                               text NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, customer_id) REFERENCES customer
);
COMMENT ON TABLE site IS 'A place of a customer where plants stand and are cared for.';
COMMENT ON COLUMN site.opening_hours IS 'As sent: jsonb would rewrite numbers and reorder names.';
COMMENT ON COLUMN site.opening_hours_is_known IS 'Whether all items have the shape that the office can show as a week.';
COMMENT ON COLUMN site.attending_intervals_is_known IS 'Whether all items have the shape that visits can be planned with.';
COMMENT ON COLUMN site.call_out_fee IS 'The exact decimal that was sent.';
SELECT prepare_resource('site', 'name', 'name');
SELECT prepare_address('site');
CREATE INDEX site_by_customer ON site (tenant_id, customer_id, id);
CREATE INDEX site_by_contact_person ON site (tenant_id, contact_person_id, id) WHERE contact_person_id IS NOT NULL;
CREATE INDEX site_by_contract ON site (tenant_id, contract_id, id) WHERE contract_id IS NOT NULL;
CREATE INDEX site_by_employee ON site (tenant_id, assigned_employee_id, id) WHERE assigned_employee_id IS NOT NULL;
CREATE INDEX site_by_recipient ON site (tenant_id, service_record_recipient_id, id) WHERE service_record_recipient_id IS NOT NULL;
-- For the attention list. The cases are rare, so the indexes are small.
CREATE INDEX site_without_position ON site (tenant_id, id) WHERE address_location_lat IS NULL AND address_location_lng IS NULL;
CREATE INDEX site_with_unknown_hours ON site (tenant_id, id) WHERE NOT opening_hours_is_known;
CREATE INDEX site_with_unknown_intervals ON site (tenant_id, id) WHERE NOT attending_intervals_is_known;
CREATE INDEX site_by_end_of_validity ON site (tenant_id, valid_until) WHERE valid_until IS NOT NULL;

CREATE TABLE contact_person (
  tenant_id   uuid NOT NULL,
  id          uuid NOT NULL,
  external_id text,
  version     integer NOT NULL DEFAULT 1,
  created_at  timestamptz NOT NULL DEFAULT now(),
  updated_at  timestamptz NOT NULL DEFAULT now(),
  customer_id uuid NOT NULL,
  last_name   text NOT NULL,
  first_name  text,
  salutation  text,
  role        text,
  email       text,
  phone       text,
  mobile      text,
  language    text,
  comment     text,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, customer_id) REFERENCES customer
);
COMMENT ON TABLE contact_person IS 'A person at a customer. Personal data: exportable and erasable.';
SELECT prepare_resource('contact_person', 'last_name', 'last_name || '' '' || coalesce(first_name, '''')');
CREATE INDEX contact_person_by_customer ON contact_person (tenant_id, customer_id, id);

CREATE TABLE contract (
  tenant_id               uuid NOT NULL,
  id                      uuid NOT NULL,
  external_id             text,
  version                 integer NOT NULL DEFAULT 1,
  created_at              timestamptz NOT NULL DEFAULT now(),
  updated_at              timestamptz NOT NULL DEFAULT now(),
  customer_id             uuid NOT NULL,
  start_date              date NOT NULL,
  type                    text NOT NULL,
  contract_number         text,
  end_date                date,
  notice_period_in_months bigint,
  net_price               numeric,
  billing_interval        text,
  status                  text,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT contract_contract_number_unique UNIQUE (tenant_id, contract_number),
  FOREIGN KEY (tenant_id, customer_id) REFERENCES customer
);
COMMENT ON TABLE contract IS 'An agreement with a customer.';
SELECT prepare_resource('contract', 'coalesce(contract_number, '''')', 'coalesce(contract_number, '''')');
CREATE INDEX contract_by_customer ON contract (tenant_id, customer_id, id);

CREATE TABLE product (
  tenant_id      uuid NOT NULL,
  id             uuid NOT NULL,
  external_id    text,
  version        integer NOT NULL DEFAULT 1,
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now(),
  name           text NOT NULL,
  kind           text NOT NULL,
  article_number text,
  gtin           text,
  unit_code      text NOT NULL,
  net_price      numeric,
  currency       text NOT NULL,
  vat_rate       numeric,
  description    text,
  active         boolean NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT product_article_number_unique UNIQUE (tenant_id, article_number)
);
COMMENT ON TABLE product IS 'Something that the business sells or uses.';
SELECT prepare_resource('product', 'name', 'name || '' '' || coalesce(article_number, '''')');

CREATE TABLE container (
  tenant_id                 uuid NOT NULL,
  id                        uuid NOT NULL,
  external_id               text,
  version                   integer NOT NULL DEFAULT 1,
  created_at                timestamptz NOT NULL DEFAULT now(),
  updated_at                timestamptz NOT NULL DEFAULT now(),
  site_id                   uuid,
  name                      text NOT NULL,
  culture_system            text NOT NULL,
  product_id                uuid,
  material                  text,
  color                     text,
  length_in_cm              bigint,
  width_in_cm               bigint,
  height_in_cm              bigint,
  diameter_in_cm            bigint,
  volume_in_litres          numeric,
  has_water_level_indicator boolean,
  ownership                 text,
  label_code                text,
  comment                   text,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT container_label_code_unique UNIQUE (tenant_id, label_code),
  FOREIGN KEY (tenant_id, site_id) REFERENCES site
);
COMMENT ON TABLE container IS 'A pot or planter, at a site or in stock.';
SELECT prepare_resource('container', 'name', 'name || '' '' || coalesce(label_code, '''')');
CREATE INDEX container_by_site ON container (tenant_id, site_id, id) WHERE site_id IS NOT NULL;
CREATE INDEX container_by_product ON container (tenant_id, product_id, id) WHERE product_id IS NOT NULL;

CREATE TABLE plant (
  tenant_id      uuid NOT NULL,
  id             uuid NOT NULL,
  external_id    text,
  version        integer NOT NULL DEFAULT 1,
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now(),
  site_id        uuid NOT NULL,
  botanical_name text,
  product_id     uuid,
  common_name    text,
  quantity       bigint NOT NULL,
  container_id   uuid,
  building       text,
  floor          text,
  room           text,
  position       text,
  height_in_cm   bigint,
  planted_on     date,
  removed_on     date,
  status         text,
  ownership      text,
  label_code     text,
  comment        text,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT plant_label_code_unique UNIQUE (tenant_id, label_code),
  FOREIGN KEY (tenant_id, site_id) REFERENCES site
);
COMMENT ON TABLE plant IS 'One plant, or several of a kind that stand together, at a site.';
SELECT prepare_resource('plant', 'coalesce(botanical_name, common_name, '''')',
  'coalesce(botanical_name, '''') || '' '' || coalesce(common_name, '''') || '' '' || coalesce(label_code, '''')');
CREATE INDEX plant_by_site ON plant (tenant_id, site_id, id);
CREATE INDEX plant_by_product ON plant (tenant_id, product_id, id) WHERE product_id IS NOT NULL;
CREATE INDEX plant_by_container ON plant (tenant_id, container_id, id) WHERE container_id IS NOT NULL;

CREATE TABLE employee (
  tenant_id       uuid NOT NULL,
  id              uuid NOT NULL,
  external_id     text,
  version         integer NOT NULL DEFAULT 1,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  first_name      text NOT NULL,
  last_name       text NOT NULL,
  employee_number text,
  email           text,
  phone           text,
  active          boolean NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT employee_employee_number_unique UNIQUE (tenant_id, employee_number)
);
COMMENT ON TABLE employee IS 'Somebody who works for the business.';
SELECT prepare_resource('employee', 'last_name', 'last_name || '' '' || first_name || '' '' || coalesce(employee_number, '''')');


-- People and sign-in --------------------------------------------------------------------------------------------------

CREATE TABLE person (
  tenant_id       uuid NOT NULL REFERENCES tenant,
  id              uuid NOT NULL,
  name            text NOT NULL CHECK (name ~ '\S'),
  email           text NOT NULL,
  role            text NOT NULL CHECK (role IN ('VERWALTUNG', 'PFLEGE')),
  password_hash   text NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  last_sign_in_at timestamptz,
  language        text CHECK (language IN ('de', 'en')),
  PRIMARY KEY (tenant_id, id)
);
COMMENT ON TABLE person IS 'Somebody of the office. VERWALTUNG may do everything, PFLEGE reads master data.';
COMMENT ON COLUMN person.password_hash IS 'argon2id in the form $argon2id$v=19$m=…,t=…,p=…$salt$hash: its cost can be raised later.';
COMMENT ON COLUMN person.language IS 'Language of the last sign-in, for mail. NULL if unknown.';
SELECT isolate_tenants('person');

-- Without a tenant.
CREATE TABLE sign_in_name (
  email_hash bytea NOT NULL,
  tenant_id  uuid NOT NULL,
  person_id  uuid NOT NULL,
  PRIMARY KEY (email_hash, tenant_id)
);
COMMENT ON TABLE sign_in_name IS
  'The people whom an e-mail address signs in: at most one of each business. Fit to be a reference table.';
COMMENT ON COLUMN sign_in_name.email_hash IS 'SHA-256 of the address in lower case.';

CREATE FUNCTION has_people() RETURNS boolean
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM sign_in_name)
$$;

-- Without a tenant.
CREATE TABLE setup_link (
  token_hash bytea PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE setup_link IS 'Links that a start has printed while there is no person. The first use ends all of them.';

-- Takes an address for a person of the transaction's tenant; false if somebody of the tenant has it. The first person
-- ends all setup links.
CREATE FUNCTION claim_email(hash bytea, tenant uuid, person uuid) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF (tenant = ANY (current_tenants())) IS NOT TRUE THEN RAISE EXCEPTION 'not a tenant of this transaction'; END IF;
  INSERT INTO sign_in_name (email_hash, tenant_id, person_id) VALUES (hash, tenant, person) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM setup_link;
  RETURN true;
END $$;

CREATE FUNCTION release_email(tenant uuid, person uuid) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM sign_in_name WHERE tenant_id = tenant AND person_id = person AND tenant = ANY (current_tenants())
$$;

-- The accounts of an address. The caller compares the password even if there is none.
CREATE FUNCTION find_account(hash bytea) RETURNS TABLE (tenant_id uuid, person_id uuid, password_hash text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT person.tenant_id, person.id, person.password_hash
  FROM sign_in_name AS known JOIN person ON person.tenant_id = known.tenant_id AND person.id = known.person_id
  WHERE known.email_hash = hash
$$;
REVOKE ALL ON FUNCTION has_people, claim_email, release_email, find_account FROM PUBLIC;
GRANT EXECUTE ON FUNCTION has_people, claim_email, release_email, find_account TO stamm_service;

-- Stores a new link unless a person exists. Links of earlier starts end. Links of processes that started within the last
-- minute stay: each of them prints its own.
CREATE FUNCTION make_setup_link(hash bytea) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  LOCK TABLE setup_link IN SHARE ROW EXCLUSIVE MODE;
  DELETE FROM setup_link WHERE created_at < now() - interval '1 minute';
  IF has_people() THEN RETURN false; END IF;
  INSERT INTO setup_link (token_hash) VALUES (hash);
  RETURN true;
END $$;

CREATE FUNCTION end_setup_link(hash bytea) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM setup_link WHERE token_hash = hash
$$;

-- Returns a row if the link is valid, with the only business if there is exactly one. The first person joins it.
CREATE FUNCTION find_setup_link(hash bytea) RETURNS TABLE (tenant_id uuid, business_name text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT only_one.tenant_id, only_one.name
  FROM setup_link LEFT JOIN (
    SELECT min(tenant.tenant_id::text)::uuid AS tenant_id, min(tenant.name) AS name FROM tenant HAVING count(*) = 1
  ) AS only_one ON true
  WHERE setup_link.token_hash = hash AND NOT has_people()
$$;

-- Uses a link; false if it is invalid. The lock makes the second of two concurrent uses fail.
CREATE FUNCTION use_setup_link(hash bytea) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  LOCK TABLE setup_link IN SHARE ROW EXCLUSIVE MODE;
  IF has_people() OR NOT EXISTS (SELECT FROM setup_link WHERE token_hash = hash) THEN RETURN false; END IF;
  DELETE FROM setup_link;
  RETURN true;
END $$;
REVOKE ALL ON FUNCTION make_setup_link, end_setup_link, find_setup_link, use_setup_link FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_setup_link, end_setup_link, find_setup_link, use_setup_link TO stamm_service;

-- Without a tenant. Unlogged: a crash may lose the attempts of the last minutes.
CREATE UNLOGGED TABLE sign_in_attempt (
  subject    bytea PRIMARY KEY,
  started_at timestamptz NOT NULL,
  attempts   integer NOT NULL
);
COMMENT ON TABLE sign_in_attempt IS 'Failed sign-ins of each account and of each address in its current window.';
COMMENT ON COLUMN sign_in_attempt.subject IS 'SHA-256 of the account or address: the table names nobody.';

-- Counts an attempt and returns the state of its window. One statement, so parallel guesses are all counted.
CREATE FUNCTION count_sign_in(subject_hash bytea, window_seconds integer)
  RETURNS TABLE (attempts integer, window_ends_in_ms integer)
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  INSERT INTO sign_in_attempt AS known (subject, started_at, attempts) VALUES (subject_hash, clock_timestamp(), 1)
  ON CONFLICT (subject) DO UPDATE SET
    started_at = CASE WHEN known.started_at + make_interval(secs => window_seconds) <= excluded.started_at
      THEN excluded.started_at ELSE known.started_at END,
    attempts = CASE WHEN known.started_at + make_interval(secs => window_seconds) <= excluded.started_at
      THEN 1 ELSE known.attempts + 1 END
  RETURNING known.attempts,
    (extract(epoch FROM known.started_at + make_interval(secs => window_seconds) - clock_timestamp()) * 1000)::integer
$$;

-- After a success: forgets the failures of the account and takes back this attempt of the address.
CREATE FUNCTION forgive_sign_in(account bytea, address bytea) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM sign_in_attempt WHERE subject = account;
  UPDATE sign_in_attempt SET attempts = greatest(attempts - 1, 0) WHERE subject = address;
$$;
REVOKE ALL ON FUNCTION count_sign_in, forgive_sign_in FROM PUBLIC;
GRANT EXECUTE ON FUNCTION count_sign_in, forgive_sign_in TO stamm_service;

CREATE TABLE invitation (
  tenant_id  uuid NOT NULL REFERENCES tenant,
  id         uuid NOT NULL,
  email      text NOT NULL,
  role       text NOT NULL CHECK (role IN ('VERWALTUNG', 'PFLEGE')),
  token_hash bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
COMMENT ON TABLE invitation IS 'A one-time link to join a business. Used and withdrawn ones are deleted.';
CREATE INDEX invitation_by_token ON invitation (token_hash);
SELECT isolate_tenants('invitation');

CREATE FUNCTION find_invitation(hash bytea)
  RETURNS TABLE (tenant_id uuid, id uuid, email text, role text, business_name text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT invitation.tenant_id, invitation.id, invitation.email, invitation.role, tenant.name
  FROM invitation JOIN tenant ON tenant.tenant_id = invitation.tenant_id
  WHERE invitation.token_hash = hash AND invitation.expires_at > now()
$$;
REVOKE ALL ON FUNCTION find_invitation FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_invitation TO stamm_service;

CREATE TABLE password_reset (
  tenant_id  uuid NOT NULL,
  id         uuid NOT NULL,
  person_id  uuid NOT NULL,
  token_hash bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, person_id) REFERENCES person ON DELETE CASCADE
);
COMMENT ON TABLE password_reset IS 'A one-time link to set a new password. Used links are deleted.';
CREATE INDEX password_reset_by_token ON password_reset (token_hash);
CREATE INDEX password_reset_by_person ON password_reset (tenant_id, person_id);
SELECT isolate_tenants('password_reset');

CREATE FUNCTION find_password_reset(hash bytea)
  RETURNS TABLE (tenant_id uuid, id uuid, person_id uuid, name text, email text, business_name text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT reset.tenant_id, reset.id, person.id, person.name, person.email, tenant.name
  FROM password_reset AS reset
  JOIN person ON person.tenant_id = reset.tenant_id AND person.id = reset.person_id
  JOIN tenant ON tenant.tenant_id = reset.tenant_id
  WHERE reset.token_hash = hash AND reset.expires_at > now()
$$;
REVOKE ALL ON FUNCTION find_password_reset FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_password_reset TO stamm_service;

CREATE TABLE known_device (
  tenant_id    uuid NOT NULL,
  id           uuid NOT NULL,
  person_id    uuid NOT NULL,
  token_hash   bytea NOT NULL,
  last_used_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, person_id) REFERENCES person ON DELETE CASCADE
);
COMMENT ON TABLE known_device IS
  'A browser that has signed this person in. Its wrong passwords are counted apart from those of strangers.';
COMMENT ON COLUMN known_device.token_hash IS 'SHA-256 of the token in the device cookie.';
CREATE INDEX known_device_by_person ON known_device (tenant_id, person_id);
SELECT isolate_tenants('known_device');

-- Whether this browser has signed somebody in with this address.
CREATE FUNCTION is_known_device(email_hash bytea, token_hash bytea) RETURNS boolean
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM sign_in_name AS known
    JOIN known_device AS device ON device.tenant_id = known.tenant_id AND device.person_id = known.person_id
    WHERE known.email_hash = is_known_device.email_hash AND device.token_hash = is_known_device.token_hash)
$$;

-- Also removes expired links to set a new password. Each process calls it from time to time.
CREATE FUNCTION forget_old_devices(age interval) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM known_device WHERE last_used_at < now() - age;
  DELETE FROM password_reset WHERE expires_at < now();
$$;
REVOKE ALL ON FUNCTION is_known_device, forget_old_devices FROM PUBLIC;
GRANT EXECUTE ON FUNCTION is_known_device, forget_old_devices TO stamm_service;

CREATE TABLE passkey (
  tenant_id     uuid NOT NULL,
  id            uuid NOT NULL,
  person_id     uuid NOT NULL,
  credential_id bytea NOT NULL,
  public_key    bytea NOT NULL,
  counter       bigint NOT NULL,
  transports    text[] NOT NULL,
  rp_id         text NOT NULL,
  name          text NOT NULL CHECK (name ~ '\S'),
  created_at    timestamptz NOT NULL DEFAULT now(),
  last_used_at  timestamptz,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, person_id, credential_id),
  FOREIGN KEY (tenant_id, person_id) REFERENCES person ON DELETE CASCADE
);
COMMENT ON TABLE passkey IS 'A WebAuthn credential of a person. The private key never leaves the authenticator.';
COMMENT ON COLUMN passkey.public_key IS 'COSE key.';
COMMENT ON COLUMN passkey.counter IS 'Signature counter of the last use; 0 for authenticators that do not count.';
COMMENT ON COLUMN passkey.rp_id IS 'Host name that the browser bound the passkey to.';
CREATE INDEX passkey_by_credential ON passkey (credential_id);
SELECT isolate_tenants('passkey');

-- The person comes from the authenticator's user handle, which is unsigned: the caller checks the signature.
CREATE FUNCTION find_passkey(credential bytea, person uuid)
  RETURNS TABLE (tenant_id uuid, id uuid, public_key bytea, counter bigint, rp_id text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT passkey.tenant_id, passkey.id, passkey.public_key, passkey.counter, passkey.rp_id
  FROM passkey WHERE passkey.credential_id = credential AND passkey.person_id = person
$$;

CREATE FUNCTION lacks_required_passkey(tenant_asked uuid, person_asked uuid) RETURNS boolean
  LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM tenant WHERE tenant_id = tenant_asked AND requires_passkeys)
    AND NOT EXISTS (SELECT FROM passkey WHERE tenant_id = tenant_asked AND person_id = person_asked)
$$;
REVOKE ALL ON FUNCTION find_passkey, lacks_required_passkey FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_passkey, lacks_required_passkey TO stamm_service;

-- Without a tenant: a sign-in by passkey asks for a challenge before the person is known. Unlogged: a crash may lose the
-- challenges of the last minutes.
CREATE UNLOGGED TABLE passkey_challenge (
  challenge_hash bytea PRIMARY KEY,
  purpose        text NOT NULL CHECK (purpose IN ('REGISTRATION', 'SIGN_IN', 'SECOND_FACTOR', 'PROOF')),
  bound_to       uuid CHECK ((bound_to IS NULL) = (purpose = 'SIGN_IN')),
  expires_at     timestamptz NOT NULL
);
COMMENT ON TABLE passkey_challenge IS 'Challenges that no authenticator has answered yet. Each is used once.';
COMMENT ON COLUMN passkey_challenge.bound_to IS 'Session or pending sign-in that asked for it.';
CREATE INDEX passkey_challenge_by_expiry ON passkey_challenge (expires_at);

-- Each new challenge removes two expired ones: the table needs no upkeep.
CREATE FUNCTION make_passkey_challenge(hash bytea, its_purpose text, binding uuid, seconds integer) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM passkey_challenge WHERE challenge_hash IN (
    SELECT challenge_hash FROM passkey_challenge WHERE expires_at < now()
    ORDER BY expires_at LIMIT 2 FOR UPDATE SKIP LOCKED);
  INSERT INTO passkey_challenge (challenge_hash, purpose, bound_to, expires_at)
  VALUES (hash, its_purpose, binding, now() + make_interval(secs => seconds));
$$;

-- The row lock makes the second of two concurrent uses find nothing.
CREATE FUNCTION use_passkey_challenge(hash bytea, its_purpose text, binding uuid) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  DELETE FROM passkey_challenge
  WHERE challenge_hash = hash AND purpose = its_purpose AND bound_to IS NOT DISTINCT FROM binding AND expires_at > now();
  RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION make_passkey_challenge, use_passkey_challenge FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_passkey_challenge, use_passkey_challenge TO stamm_service;

CREATE TABLE recovery_code (
  tenant_id  uuid NOT NULL,
  person_id  uuid NOT NULL,
  code_hash  bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, person_id, code_hash),
  FOREIGN KEY (tenant_id, person_id) REFERENCES person ON DELETE CASCADE
);
COMMENT ON TABLE recovery_code IS 'Replaces a passkey in a sign-in, once. Used codes are deleted.';
COMMENT ON COLUMN recovery_code.code_hash IS 'SHA-256: a code has 80 random bits, so a fast hash hides it.';
SELECT isolate_tenants('recovery_code');

CREATE TABLE pending_sign_in (
  tenant_id  uuid NOT NULL,
  id         uuid NOT NULL,
  person_id  uuid NOT NULL,
  token_hash bytea NOT NULL,
  tries      integer NOT NULL DEFAULT 0,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, person_id) REFERENCES person ON DELETE CASCADE
);
COMMENT ON TABLE pending_sign_in IS 'The password was right; a passkey or recovery code is still missing.';
CREATE INDEX pending_sign_in_by_token ON pending_sign_in (token_hash);
CREATE INDEX pending_sign_in_by_person ON pending_sign_in (tenant_id, person_id);
SELECT isolate_tenants('pending_sign_in');

-- Counts a try before the caller checks it: parallel guesses are all counted.
CREATE FUNCTION try_pending_sign_in(hash bytea, max_tries integer) RETURNS TABLE (tenant_id uuid, id uuid, person_id uuid)
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE pending_sign_in AS pending SET tries = tries + 1
  WHERE pending.token_hash = hash AND pending.expires_at > now() AND pending.tries < max_tries
  RETURNING pending.tenant_id, pending.id, pending.person_id
$$;
REVOKE ALL ON FUNCTION try_pending_sign_in FROM PUBLIC;
GRANT EXECUTE ON FUNCTION try_pending_sign_in TO stamm_service;

CREATE TABLE session (
  tenant_id    uuid NOT NULL,
  id           uuid NOT NULL,
  person_id    uuid NOT NULL,
  token_hash   bytea NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz NOT NULL DEFAULT now(),
  address      text NOT NULL,
  user_agent   text NOT NULL,
  proved_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, person_id) REFERENCES person ON DELETE CASCADE
);
COMMENT ON TABLE session IS 'A person who is signed in, in one browser. Ended sessions are deleted.';
COMMENT ON COLUMN session.token_hash IS 'SHA-256 of the cookie''s token. The token has 256 random bits and is not stored.';
COMMENT ON COLUMN session.last_used_at IS 'Written once per minute of use, not once per request.';
COMMENT ON COLUMN session.proved_at IS 'Last time the person showed a password or passkey in this session.';
CREATE INDEX session_by_token ON session (token_hash);
CREATE INDEX session_by_person ON session (tenant_id, person_id);
SELECT isolate_tenants('session');

-- The session of a token with its person, the age of the last proof, and whether a passkey is missing. It stores the use
-- once per minute.
CREATE FUNCTION find_session(hash bytea, idle interval, lifetime interval)
  RETURNS TABLE (tenant_id uuid, session_id uuid, person_id uuid, name text, email text, role text, business_name text,
    proof_age_seconds double precision, needs_passkey boolean)
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH found AS (
    SELECT session.tenant_id, session.id, session.person_id, session.last_used_at, session.proved_at FROM session
    WHERE session.token_hash = hash AND session.last_used_at > now() - idle AND session.created_at > now() - lifetime
  ), noted AS (
    UPDATE session SET last_used_at = now() FROM found
    WHERE session.tenant_id = found.tenant_id AND session.id = found.id AND found.last_used_at < now() - interval '1 minute'
  )
  SELECT found.tenant_id, found.id, person.id, person.name, person.email, person.role, tenant.name,
    extract(epoch FROM now() - found.proved_at)::double precision, lacks_required_passkey(found.tenant_id, person.id)
  FROM found JOIN person ON person.tenant_id = found.tenant_id AND person.id = found.person_id
  JOIN tenant ON tenant.tenant_id = found.tenant_id
$$;

CREATE FUNCTION end_session(hash bytea) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM session WHERE token_hash = hash
$$;

-- Also removes expired invitations and attempts. Each process calls it from time to time.
CREATE FUNCTION forget_old_sign_ins(idle interval, lifetime interval) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM session WHERE last_used_at < now() - idle OR created_at < now() - lifetime;
  DELETE FROM invitation WHERE expires_at < now();
  DELETE FROM sign_in_attempt WHERE started_at < now() - interval '1 hour';
$$;
REVOKE ALL ON FUNCTION find_session, end_session, forget_old_sign_ins FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_session, end_session, forget_old_sign_ins TO stamm_service;


-- Recorded API calls --------------------------------------------------------------------------------------------------
-- Each process writes them about once per second, never inside a request. server/features/call-log bounds their space.

CREATE TABLE recorded_request (
  tenant_id      uuid NOT NULL,
  id             uuid NOT NULL,
  recorded_at    timestamptz NOT NULL DEFAULT now(),
  method         text NOT NULL,
  route          text NOT NULL,
  path           text NOT NULL,
  status         smallint NOT NULL,
  duration_ms    real NOT NULL,
  address        text NOT NULL,
  user_agent     text NOT NULL,
  code           text,
  faults         json,
  ignored_fields json,
  body           text,
  PRIMARY KEY (tenant_id, id)
);
COMMENT ON TABLE recorded_request IS 'Calls of the last 30 days, or the newest if there are too many.';
COMMENT ON COLUMN recorded_request.id IS 'The request id. It begins with the time of the request: ids sort by time.';
COMMENT ON COLUMN recorded_request.route IS 'The pattern of the path, such as /api/v1/sites/:id, by which errors are grouped.';
COMMENT ON COLUMN recorded_request.body IS 'Of rejected calls only, as sent; shown with its personal data hidden.';
-- For the live list. Ids do not serve it: a long request is recorded after later ones.
CREATE INDEX recorded_request_by_arrival ON recorded_request (tenant_id, recorded_at);
CREATE INDEX recorded_request_with_error ON recorded_request (tenant_id, id) WHERE status >= 400;
CREATE INDEX recorded_request_with_body ON recorded_request (tenant_id, id) WHERE body IS NOT NULL;
SELECT isolate_tenants('recorded_request');

CREATE TABLE request_hour (
  tenant_id  uuid NOT NULL,
  hour       timestamptz NOT NULL,
  requests   bigint NOT NULL,
  refusals   bigint NOT NULL,
  failures   bigint NOT NULL,
  unrecorded bigint NOT NULL,
  PRIMARY KEY (tenant_id, hour)
);
COMMENT ON TABLE request_hour IS 'Number of calls per hour, including those that were only counted.';
COMMENT ON COLUMN request_hour.unrecorded IS 'Calls that were only counted, because there were too many or the database was behind.';
SELECT isolate_tenants('request_hour');

CREATE TABLE request_erasure (
  tenant_id uuid PRIMARY KEY,
  erased_at timestamptz NOT NULL
);
COMMENT ON TABLE request_erasure IS
  'Last erasure of recorded bodies with a person: a process discards older bodies that it still holds.';
SELECT isolate_tenants('request_erasure');

-- Keeps the record within its bounds, for these tenants or for all. Tenants have equal shares. One process at a time
-- runs it; a large surplus takes several calls.
CREATE FUNCTION trim_recorded_requests(tenants uuid[], oldest uuid, rows_each integer, rows_in_all integer, bodies_each integer)
  RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  tenant uuid;
  cut uuid;
  share integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('stamm: trim recorded requests', 0)) THEN RETURN; END IF;
  SELECT least(rows_each, rows_in_all / greatest(count(DISTINCT known.tenant_id), 1)) INTO share FROM request_hour AS known;
  FOR tenant IN
    SELECT DISTINCT known.tenant_id FROM request_hour AS known WHERE tenants IS NULL OR known.tenant_id = ANY (tenants)
  LOOP
    SELECT id INTO cut FROM recorded_request WHERE tenant_id = tenant ORDER BY id DESC OFFSET share LIMIT 1;
    DELETE FROM recorded_request WHERE tenant_id = tenant AND id IN (
      SELECT id FROM recorded_request WHERE tenant_id = tenant AND id <= greatest(cut, oldest)
      ORDER BY id LIMIT 20000);
    SELECT id INTO cut FROM recorded_request WHERE tenant_id = tenant AND body IS NOT NULL
    ORDER BY id DESC OFFSET least(bodies_each, share) LIMIT 1;
    UPDATE recorded_request SET body = NULL WHERE tenant_id = tenant AND body IS NOT NULL AND id <= cut;
  END LOOP;
  DELETE FROM request_hour WHERE hour < now() - interval '31 days' AND (tenants IS NULL OR tenant_id = ANY (tenants));
  DELETE FROM request_erasure WHERE erased_at < now() - interval '1 hour' AND tenants IS NULL;
END $$;
REVOKE ALL ON FUNCTION trim_recorded_requests FROM PUBLIC;
GRANT EXECUTE ON FUNCTION trim_recorded_requests TO stamm_service;

CREATE TABLE checklist (
  tenant_id       uuid PRIMARY KEY,
  has_copied_call boolean NOT NULL DEFAULT false,
  has_import      boolean NOT NULL DEFAULT false,
  is_dismissed    boolean NOT NULL DEFAULT false,
  first_request   json
);
COMMENT ON TABLE checklist IS 'First steps of a new business that nothing else records.';
COMMENT ON COLUMN checklist.first_request IS 'The first recorded call, kept after the record has dropped it.';
SELECT isolate_tenants('checklist');


-- Statistics ----------------------------------------------------------------------------------------------------------

-- Analyses tables that have doubled since their last ANALYZE. Autovacuum comes once per minute; an import fills tables
-- faster, and a plan for an empty table reads all rows of a tenant to find one. SKIP_LOCKED leaves out tables that
-- somebody else analyses.
CREATE FUNCTION refresh_statistics() RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  grown regclass;
BEGIN
  FOR grown IN
    SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relrowsecurity
      AND pg_relation_size(oid) > CASE WHEN reltuples < 0 THEN 0
        ELSE 2 * relpages::bigint * current_setting('block_size')::bigint END
  LOOP
    EXECUTE format('ANALYZE (SKIP_LOCKED) %s', grown);
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION refresh_statistics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION refresh_statistics TO stamm_service;
