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
-- functions are the only way, and each does one thing. server/database/migrations creates the role.

-- word_similarity() of the search.
CREATE EXTENSION IF NOT EXISTS pg_trgm;


-- Shared functions ----------------------------------------------------------------------------------------------------

-- Tenants of the running transaction. A list, because one batch writes rows of several tenants. After a transaction a
-- pooled connection has the setting '' and not NULL: hence nullif.
CREATE FUNCTION current_tenants() RETURNS uuid[]
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce(string_to_array(nullif(current_setting('stamm.tenants', true), ''), ',')::uuid[], '{}');

-- A plan made for an empty table stays in use while the table grows. All indexes that begin with the tenant then cost
-- the same, and a look-up by id can come to read all rows of a tenant. (Decision 87.)
-- Has the planner expect that all rows of a new table belong to one tenant: it then prefers the index with more columns,
-- also before the first row. Real statistics replace this. PostgreSQL takes it from version 18 on.
CREATE FUNCTION expect_one_tenant(target regclass) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('server_version_num')::integer >= 180000 THEN
    PERFORM pg_restore_attribute_stats('schemaname', nspname::text, 'relname', relname::text, 'attname', 'tenant_id',
      'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', 1::real)
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE pg_class.oid = target AND reltuples < 0;
  END IF;
END $$;
REVOKE ALL ON FUNCTION expect_one_tenant FROM PUBLIC;

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
  PERFORM expect_one_tenant(target);
END $$;
REVOKE ALL ON FUNCTION isolate_tenants FROM PUBLIC;

-- Letters without their accents, composed or not, and ligatures as their letters. core/letters.ts is its twin; a test
-- compares them. Independent of the locale. Not STRICT: PostgreSQL inlines it into fold() only without.
CREATE FUNCTION plain_letters(name text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN octet_length(name) = length(name) THEN name ELSE
    replace(replace(translate(regexp_replace(normalize(name, NFKD), '[\u0300-\u036f]', '', 'g'),
      'ÆæŒœØøÐðĐđŁłıĦħŦŧŊŋƏəςẞÞ', 'aaooooddddllihhttnnaaσßþ'), 'ß', 'ss'), 'þ', 'th') END;

REVOKE ALL ON FUNCTION plain_letters FROM PUBLIC;
GRANT EXECUTE ON FUNCTION plain_letters TO stamm_service;

-- One spelling for search and sort order: "Müller", "Mueller" and "MULLER" are equal.
CREATE FUNCTION fold(name text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN replace(replace(replace(lower(plain_letters(name)), 'ae', 'a'), 'oe', 'o'), 'ue', 'u');

-- A day as text for names and the search. to_char depends on no setting with this pattern, so a stored column can use it.
CREATE FUNCTION day_text(day date) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN to_char(day, 'YYYY-MM-DD');

-- A clock that jumps back must not stretch windows and leases: one that begins or ends too far ahead is over.
CREATE FUNCTION is_window_over(started_at timestamptz, at timestamptz, window_seconds integer) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN abs(extract(epoch FROM at - started_at)) >= window_seconds;
REVOKE ALL ON FUNCTION is_window_over FROM PUBLIC;


-- Tenants and API keys ------------------------------------------------------------------------------------------------

CREATE TABLE tenant (
  tenant_id         uuid PRIMARY KEY,
  name              text NOT NULL CHECK (name ~ '\S'),
  created_at        timestamptz NOT NULL DEFAULT now(),
  requires_passkeys boolean NOT NULL DEFAULT false,
  holiday_rule      text NOT NULL DEFAULT 'MOVE' CHECK (holiday_rule IN ('MOVE', 'SKIP', 'KEEP')),
  start_address     json,
  test_tenant_id    uuid
);
COMMENT ON TABLE tenant IS 'A business that uses Stamm.';
COMMENT ON COLUMN tenant.requires_passkeys IS 'A person without a passkey can only add one.';
COMMENT ON COLUMN tenant.holiday_rule IS 'Whether visits on public holidays move, are skipped, or stay.';
COMMENT ON COLUMN tenant.start_address IS 'Street, postcode, town and position from which day sheets order their stops.';
COMMENT ON COLUMN tenant.test_tenant_id IS 'The test business of this one. A single column: there is at most one.';
SELECT isolate_tenants('tenant');

-- For background work that takes one tenant after the other.
CREATE FUNCTION list_tenants(after uuid, most integer) RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT tenant_id FROM tenant WHERE tenant_id > after ORDER BY tenant_id LIMIT most
$$;
REVOKE ALL ON FUNCTION list_tenants FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_tenants TO stamm_service;

-- A test business: a tenant beside the real one, with masked data of it. (Decision 93.)
CREATE TABLE test_business (
  tenant_id      uuid PRIMARY KEY REFERENCES tenant (tenant_id),
  real_tenant_id uuid NOT NULL,
  goal           text NOT NULL CHECK (goal IN ('FILLED', 'EMPTY', 'REMOVED')),
  stage          text CHECK (stage IN ('EMPTYING', 'FILLING')),
  resource       text,
  after_id       uuid,
  copied         integer NOT NULL DEFAULT 0,
  skipped        integer NOT NULL DEFAULT 0,
  total          integer,
  started_at     timestamptz NOT NULL DEFAULT now(),
  ended_at       timestamptz
);
COMMENT ON TABLE test_business IS 'Test businesses, and how far filling or emptying each of them is.';
COMMENT ON COLUMN test_business.goal IS 'What the work under way, or the last one, leads to.';
COMMENT ON COLUMN test_business.stage IS 'NULL while there is nothing to do.';
COMMENT ON COLUMN test_business.resource IS 'While emptying the table, while filling the resource that is at work.';
COMMENT ON COLUMN test_business.after_id IS 'Objects of the resource with greater ids are not copied yet.';
COMMENT ON COLUMN test_business.skipped IS 'Objects whose unique value, or owner, something else in the test business has.';
SELECT isolate_tenants('test_business');

-- Test businesses that have something to do, for the background work of any process.
CREATE FUNCTION list_test_business_work() RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT tenant_id FROM test_business WHERE stage IS NOT NULL ORDER BY started_at
$$;
REVOKE ALL ON FUNCTION list_test_business_work FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_test_business_work TO stamm_service;

-- Ends an emptied test business. The service itself deletes no entries of the audit record.
CREATE FUNCTION remove_test_business(test_tenant uuid) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  DELETE FROM test_business WHERE tenant_id = test_tenant AND goal = 'REMOVED';
  IF NOT FOUND THEN RAISE EXCEPTION 'not a test business that is to be removed'; END IF;
  DELETE FROM api_key WHERE tenant_id = test_tenant;
  DELETE FROM webhook WHERE tenant_id = test_tenant;
  DELETE FROM calendar_feed WHERE tenant_id = test_tenant;
  DELETE FROM audit_entry WHERE tenant_id = test_tenant;
  DELETE FROM checklist WHERE tenant_id = test_tenant;
  DELETE FROM request_window WHERE tenant_id = test_tenant;
  UPDATE tenant SET test_tenant_id = NULL WHERE test_tenant_id = test_tenant;
  DELETE FROM tenant WHERE tenant_id = test_tenant;
END $$;
REVOKE ALL ON FUNCTION remove_test_business FROM PUBLIC;
GRANT EXECUTE ON FUNCTION remove_test_business TO stamm_service;

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
      started_at = CASE WHEN is_window_over(current_window.started_at, excluded.started_at, window_seconds)
        THEN excluded.started_at ELSE current_window.started_at END,
      requests = CASE WHEN is_window_over(current_window.started_at, excluded.started_at, window_seconds)
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

-- Without a foreign key: a table on the workers of a Citus cluster cannot refer to one on the coordinator.
CREATE TABLE journal_head (
  tenant_id     uuid PRIMARY KEY,
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
  origin      text,
  PRIMARY KEY (tenant_id, position)
);
COMMENT ON TABLE journal IS 'Every creation, change and deletion, written in the transaction that did it.';
COMMENT ON COLUMN journal.actor IS
  'Name of the person at that time, "key …abcd", "command line" or "demo". For reading only: actor_id identifies.';
COMMENT ON COLUMN journal.changes IS 'For a change: the fields that changed, each with "from" and "to".';
COMMENT ON COLUMN journal.actor_id IS 'Person who acted; NULL for an API key and the command line.';
COMMENT ON COLUMN journal.origin IS 'Sent by the writer in Stamm-Origin; NULL without that header.';
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
-- No triggers: those with transition tables do not work on distributed tables, and cost more.
COMMENT ON TABLE search_word IS 'The words by which each object is found, written by the statements that write the object.';
COMMENT ON COLUMN search_word.resource IS 'The table of the object: alone for words of its name, with ":detail" for all others.';
COMMENT ON COLUMN search_word.word IS 'In the spelling of fold(). A code begins with "=", a telephone number with "+".';
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

-- A code without its punctuation: "ST-10019-3" and "st 100193" are equal.
CREATE FUNCTION code_word(code text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN '=' || left(replace(space_words(fold(code)), ' ', ''), 60);

-- The digits of a telephone number behind the country's code and zero: +49 (0)40 12 34, 0049 40 1234 and 040/1234 are equal.
CREATE FUNCTION phone_word(phone text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN '+' || left(regexp_replace(regexp_replace(phone, '[^0-9+]', '', 'g'), '^((\+|00)(49)?0?|0)', ''), 60);

-- The words of an object beyond its name. Items are separated by U+0001: a text, then codes and telephone numbers with
-- their sign before them. Of a telephone number the last group is a word too: people leave out the area code.
CREATE FUNCTION detail_words(details text) RETURNS SETOF text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 7
  AS $$
    SELECT words_of(fold(split_part(details, E'\x01', 1)))
    UNION ALL
    SELECT unnest(CASE left(item, 1) WHEN '=' THEN ARRAY[code_word(item)]
      WHEN '+' THEN ARRAY[phone_word(substr(item, 2)), substring(item FROM '([0-9]{4,})[^0-9]*$')] END)
    FROM string_to_table(details, E'\x01') AS item WHERE left(item, 1) IN ('=', '+')
  $$;

-- An upper bound of all words with this beginning.
CREATE FUNCTION end_of_words(beginning text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN beginning || chr(1114111);

-- The functions below read ranges in index order and stop early. The planner expects an average tenant and would
-- collect and sort whole ranges, so matching_ids(), which calls the others, disables that.

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

-- Words similar to a typed one that begins no word of these resources. First corrections of one mistake. Then words that
-- contain it or resemble it, among those with the same first half, the same two letters, and all of the first resource;
-- each time a limited number. Numbers are not guessed, nor are codes and telephone numbers, which sort before letters.
CREATE FUNCTION resembling_words(tenant uuid, resources text[], typed text) RETURNS text[]
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  size integer;
  start text;
  finish text;
  kind text;
  found text[] := '{}';
BEGIN
  IF length(typed) < 3 OR typed ~ '^\d' THEN RETURN '{}'; END IF;
  IF length(typed) > 3 THEN
    FOREACH kind IN ARRAY resources LOOP
      found := found || known_corrections(tenant, kind, left(typed, 30));
    END LOOP;
    IF cardinality(found) > 0 THEN RETURN found; END IF;
  END IF;
  FOR size IN SELECT DISTINCT unnest(ARRAY[greatest(2, length(typed) / 2), 2, 0]) ORDER BY 1 DESC LOOP
    -- Skip words that begin with a digit or a sign.
    start := CASE size WHEN 0 THEN 'a' ELSE left(typed, size) END;
    finish := end_of_words(left(typed, size));
    FOREACH kind IN ARRAY CASE size WHEN 0 THEN resources[1:1] ELSE resources END LOOP
      -- Skip scan: one row per distinct word.
      WITH RECURSIVE known (word, place) AS (
        (SELECT word, 1 FROM search_word
         WHERE tenant_id = tenant AND resource = kind AND word >= start AND word < finish
         ORDER BY word LIMIT 1)
        UNION ALL
        SELECT following.word, known.place + 1 FROM known, LATERAL (
          SELECT word FROM search_word
          WHERE tenant_id = tenant AND resource = kind AND word > known.word AND word < finish
          ORDER BY word LIMIT 1) AS following
        WHERE known.place < CASE size WHEN 0 THEN 4000 ELSE 400 END
      )
      SELECT found || ARRAY(
        SELECT word FROM known WHERE strpos(word, typed) > 0 OR word_similarity(typed, word) >= 0.5 LIMIT 100) INTO found;
    END LOOP;
    IF cardinality(found) > 0 THEN RETURN found; END IF;
  END LOOP;
  RETURN '{}';
END $$;

-- Ids of objects of these resources with a word that has one of these beginnings. An object with two such words appears twice.
CREATE FUNCTION ids_with_words(tenant uuid, resources text[], beginnings text[], ends text[], most integer) RETURNS uuid[]
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(SELECT known.id FROM unnest(resources) AS kind, unnest(beginnings, ends) AS range (first, last), LATERAL (
    SELECT id FROM search_word WHERE tenant_id = tenant AND resource = kind
      AND word >= range.first AND word < range.last ORDER BY word, id LIMIT most) AS known LIMIT most);
END $$;

-- The same, and then ids of objects that belong to one whose name has such a word. owners[i] is the resource of such a
-- name, and expansions[i] a statement: from owners' ids in $2 to the ids of at most $3 objects that belong to them.
-- is_whole: all of them are there.
CREATE FUNCTION ids_with_term(tenant uuid, resources text[], beginnings text[], most integer, owners text[], expansions text[],
    OUT ids uuid[], OUT is_whole boolean)
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  ends text[] := ARRAY(SELECT end_of_words(beginning) FROM unnest(beginnings) AS beginning);
  owner_ids uuid[];
  owned uuid[];
BEGIN
  ids := ids_with_words(tenant, resources, beginnings, ends, most);
  is_whole := cardinality(ids) < most;
  FOR place IN 1 .. cardinality(owners) LOOP
    EXIT WHEN cardinality(ids) >= most;
    owner_ids := ids_with_words(tenant, ARRAY[owners[place]], beginnings, ends, most);
    CONTINUE WHEN cardinality(owner_ids) = 0;
    EXECUTE format('SELECT ARRAY(%s)', expansions[place]) INTO owned USING tenant, owner_ids, most;
    ids := ids || owned;
    is_whole := is_whole AND cardinality(owner_ids) < most AND cardinality(ids) < most;
  END LOOP;
END $$;

-- Ids of objects that have, for each word asked for, a word that begins with it or, if is_tolerant, else resembles it. Ids
-- may repeat, and are an array, because handing them over as rows takes many times longer. If is_whole is false there are
-- more. A search that wants few reads fewer words.
-- described is an expression on a row named "found", with the tenant in $1: all words by which it is found, a space before each.
CREATE FUNCTION matching_ids(tenant uuid, table_name text, asked text[], wanted integer, is_tolerant boolean, described text,
    owners text[], expansions text[], OUT ids uuid[], OUT is_whole boolean)
  LANGUAGE plpgsql STABLE SET enable_bitmapscan = off SET enable_sort = off SET work_mem = '64MB' AS $$
DECLARE
  most_terms CONSTANT integer := 8;
  -- Words that are read for a term.
  most_words CONSTANT integer := 100000;
  -- Objects whose texts are compared with the terms. More are intersected, if possible.
  few CONSTANT integer := 500;
  most_compared CONSTANT integer := 5000;
  -- Objects that are returned if there are more.
  part CONSTANT integer := 1000;
  resources CONSTANT text[] := ARRAY[table_name, table_name || ':detail'];
  term record;
  found record;
  beginnings text[];
  terms json[] := '{}';
  conditions text[] := '{}';
  candidates uuid[];
  intersected integer := 0;
BEGIN
  is_whole := true;
  FOR term IN
    -- A typed code is one term, where such a code exists. Else each of its words is one.
    WITH typed AS (
      SELECT token, code_word(token) AS code, ARRAY(SELECT words_of(fold(token))) AS words FROM unnest(asked) AS token
    ), coded AS (
      SELECT *, cardinality(words) > 1 AND cardinality(known_beginnings(tenant, resources[2], ARRAY[code])) > 0 AS is_code FROM typed
    )
    SELECT * FROM (
      SELECT NULL AS word, ARRAY[code] AS spellings FROM coded WHERE is_code
      UNION ALL
      SELECT word, array_cat(ARRAY[word, '=' || word],
        CASE WHEN min(token) ~ '^\+?[0-9]{3,}$' THEN ARRAY[phone_word(min(token))] END)
      FROM coded, unnest(words) AS word WHERE NOT is_code GROUP BY word) AS terms
    ORDER BY length(word) DESC NULLS FIRST, spellings LIMIT most_terms
  LOOP
    beginnings := term.spellings;
    found := ids_with_term(tenant, resources, beginnings, few, owners, expansions);
    IF cardinality(found.ids) = 0 AND is_tolerant AND term.word IS NOT NULL THEN
      beginnings := resembling_words(tenant, resources || owners, term.word);
      found := ids_with_term(tenant, resources, beginnings, few, owners, expansions);
    END IF;
    IF cardinality(found.ids) = 0 THEN
      ids := '{}';
      RETURN;
    END IF;
    IF found.is_whole AND (candidates IS NULL OR cardinality(found.ids) < cardinality(candidates)) THEN
      candidates := found.ids;
    END IF;
    terms := terms || to_json(beginnings);
    conditions := conditions || format('words LIKE ANY (%L)',
      ARRAY(SELECT '% ' || beginning || '%' FROM unnest(beginnings) AS beginning));
  END LOOP;
  IF cardinality(terms) <= 1 THEN
    IF candidates IS NULL AND cardinality(terms) = 1 THEN
      found := ids_with_term(tenant, resources, beginnings, least(wanted, most_words), owners, expansions);
      is_whole := found.is_whole;
      candidates := CASE WHEN is_whole THEN found.ids ELSE found.ids[1:part] END;
    END IF;
    ids := coalesce(candidates, '{}');
    RETURN;
  END IF;
  -- If all words are common, intersect their objects until few are left.
  FOR place IN 1 .. cardinality(terms) LOOP
    EXIT WHEN cardinality(candidates) <= few;
    beginnings := ARRAY(SELECT json_array_elements_text(terms[place]));
    found := ids_with_term(tenant, resources, beginnings, most_words, owners, expansions);
    CONTINUE WHEN NOT found.is_whole;
    candidates := CASE WHEN candidates IS NULL THEN found.ids
      ELSE ARRAY(SELECT unnest(candidates) INTERSECT SELECT unnest(found.ids)) END;
    intersected := intersected + 1;
  END LOOP;
  IF intersected = cardinality(terms) THEN
    ids := candidates[1:wanted];
    RETURN;
  END IF;
  is_whole := coalesce(cardinality(candidates) <= most_compared, false);
  candidates := (coalesce(candidates, found.ids))[1:most_compared];
  EXECUTE format('SELECT ARRAY(SELECT id FROM (
      SELECT found.id, %s AS words FROM %I AS found WHERE found.tenant_id = $1 AND found.id = ANY ($2) OFFSET 0) AS described
    WHERE %s LIMIT $3)', described, table_name, array_to_string(conditions, ' AND '))
    INTO ids USING tenant, candidates, CASE WHEN is_whole THEN wanted ELSE part END;
END $$;
REVOKE ALL ON FUNCTION space_words, words_of, code_word, phone_word, detail_words, end_of_words, known_beginnings,
  known_corrections, resembling_words, ids_with_words, ids_with_term, matching_ids FROM PUBLIC;
GRANT EXECUTE ON FUNCTION space_words, words_of, code_word, phone_word, detail_words, end_of_words, known_beginnings,
  known_corrections, resembling_words, ids_with_words, ids_with_term, matching_ids TO stamm_service;

CREATE TABLE missing_words (
  tenant_id uuid NOT NULL,
  resource  text NOT NULL,
  after_id  uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  PRIMARY KEY (tenant_id, resource)
);
COMMENT ON TABLE missing_words IS 'Objects that were stored before their words were: those of a restore that was killed.';
COMMENT ON COLUMN missing_words.resource IS 'The table of the objects.';
COMMENT ON COLUMN missing_words.after_id IS 'Objects with greater ids are still without words.';
SELECT isolate_tenants('missing_words');

-- Asked by each process when it starts: tenants with words to write.
CREATE FUNCTION tenants_with_missing_words() RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT tenant_id FROM (SELECT tenant_id FROM missing_words LIMIT 1000) AS waiting
$$;
REVOKE ALL ON FUNCTION tenants_with_missing_words FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_with_missing_words TO stamm_service;


-- Resources -----------------------------------------------------------------------------------------------------------
-- Columns follow the definitions in server/resources: a nested field is a column named by its whole path. tenant_id has
-- no foreign key: it comes from the key's own row, and each check would lock the row of the tenant. Only owners have
-- foreign keys: everything else may arrive in any order.

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
-- A reference may be named by an external id that nothing has yet. The id is kept in the row that names it, and becomes a
-- reference when its object arrives. (Decision 41.) Adds the column of the external id for each such reference, and an
-- index of the rows that wait for it.
CREATE FUNCTION keep_external_ids(target regclass, reference_columns text[]) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  reference_column text;
  kept text;
BEGIN
  FOREACH reference_column IN ARRAY reference_columns LOOP
    kept := regexp_replace(reference_column, '_id$', '_external_id');
    EXECUTE format('ALTER TABLE %s ADD COLUMN %I text, ADD CONSTRAINT %I CHECK (%I IS NULL OR %I IS NULL)',
      target, kept, target || '_' || kept || '_check', kept, reference_column);
    EXECUTE format('CREATE INDEX %I ON %s (tenant_id, %I, id) WHERE %I IS NOT NULL',
      target || '_waiting_for_' || regexp_replace(reference_column, '_id$', ''), target, kept, kept);
    EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', target, kept,
      'Kept until an object has this external id; then it is in ' || reference_column || '.');
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION prepare_resource, prepare_address, keep_external_ids FROM PUBLIC;

CREATE TABLE waiting_link (
  tenant_id   uuid NOT NULL,
  resource    text NOT NULL,
  external_id text NOT NULL,
  actor       text NOT NULL,
  actor_id    uuid,
  request_id  uuid,
  origin      text,
  PRIMARY KEY (tenant_id, resource, external_id)
);
COMMENT ON TABLE waiting_link IS
  'Links that the transaction which brought their object left open: too many for one statement, or locked by somebody else.';
COMMENT ON COLUMN waiting_link.resource IS 'What waits for the external id.';
SELECT isolate_tenants('waiting_link');

-- Asked by each process every few seconds: tenants with links to make.
CREATE FUNCTION tenants_with_waiting_links() RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT tenant_id FROM waiting_link LIMIT 100
$$;
REVOKE ALL ON FUNCTION tenants_with_waiting_links FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_with_waiting_links TO stamm_service;

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
-- Lists are narrowed by a first and a last value, or sorted. What has no value sorts last.
CREATE INDEX customer_by_customer_number ON customer (tenant_id, COALESCE(customer_number, U&'\+10FFFF') COLLATE "C", id);

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
SELECT keep_external_ids('site', ARRAY['service_record_recipient_id', 'assigned_employee_id', 'contact_person_id', 'contract_id']);
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
CREATE INDEX contract_by_start_date ON contract (tenant_id, start_date, id);
CREATE INDEX contract_by_end_date ON contract (tenant_id, COALESCE(end_date, 'infinity'::date), id);
CREATE INDEX contract_by_net_price ON contract (tenant_id, COALESCE(net_price, 'Infinity'::numeric), id);

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
CREATE INDEX product_by_article_number ON product (tenant_id, COALESCE(article_number, U&'\+10FFFF') COLLATE "C", id);
CREATE INDEX product_by_net_price ON product (tenant_id, COALESCE(net_price, 'Infinity'::numeric), id);

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
SELECT keep_external_ids('container', ARRAY['product_id']);
CREATE INDEX container_by_site ON container (tenant_id, site_id, id) WHERE site_id IS NOT NULL;
CREATE INDEX container_by_product ON container (tenant_id, product_id, id) WHERE product_id IS NOT NULL;
CREATE INDEX container_by_label_code ON container (tenant_id, COALESCE(label_code, U&'\+10FFFF') COLLATE "C", id);

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
SELECT keep_external_ids('plant', ARRAY['product_id', 'container_id']);
CREATE INDEX plant_by_site ON plant (tenant_id, site_id, id);
CREATE INDEX plant_by_product ON plant (tenant_id, product_id, id) WHERE product_id IS NOT NULL;
CREATE INDEX plant_by_container ON plant (tenant_id, container_id, id) WHERE container_id IS NOT NULL;
CREATE INDEX plant_by_planted_on ON plant (tenant_id, COALESCE(planted_on, 'infinity'::date), id);
CREATE INDEX plant_by_label_code ON plant (tenant_id, COALESCE(label_code, U&'\+10FFFF') COLLATE "C", id);

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
CREATE INDEX employee_by_employee_number ON employee (tenant_id, COALESCE(employee_number, U&'\+10FFFF') COLLATE "C", id);

CREATE TABLE appointment (
  tenant_id           uuid NOT NULL,
  id                  uuid NOT NULL,
  external_id         text,
  version             integer NOT NULL DEFAULT 1,
  created_at          timestamptz NOT NULL DEFAULT now(),
  updated_at          timestamptz NOT NULL DEFAULT now(),
  site_id             uuid NOT NULL,
  date                date NOT NULL,
  planned_date        date,
  time_from           text,
  time_until          text,
  duration_in_minutes bigint,
  employee_id         uuid,
  status              text NOT NULL,
  comment             text,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT appointment_site_id_planned_date_unique UNIQUE (tenant_id, site_id, planned_date),
  FOREIGN KEY (tenant_id, site_id) REFERENCES site
);
COMMENT ON TABLE appointment IS 'What was agreed about one visit: another day, time or employee, a cancellation, or an extra visit.';
SELECT prepare_resource('appointment', 'day_text(date)', 'day_text(date)');
CREATE INDEX appointment_by_site ON appointment (tenant_id, site_id, id);
CREATE INDEX appointment_by_employee ON appointment (tenant_id, employee_id, id) WHERE employee_id IS NOT NULL;
CREATE INDEX appointment_by_date ON appointment (tenant_id, date, id);
SELECT keep_external_ids('appointment', ARRAY['employee_id']);

CREATE TABLE absence (
  tenant_id              uuid NOT NULL,
  id                     uuid NOT NULL,
  external_id            text,
  version                integer NOT NULL DEFAULT 1,
  created_at             timestamptz NOT NULL DEFAULT now(),
  updated_at             timestamptz NOT NULL DEFAULT now(),
  employee_id            uuid NOT NULL,
  "from"                 date NOT NULL,
  until                  date NOT NULL,
  substitute_employee_id uuid,
  reason                 text,
  comment                text,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, employee_id) REFERENCES employee
);
COMMENT ON TABLE absence IS 'Days on which an employee does not work, and who takes the visits over.';
SELECT prepare_resource('absence', 'day_text("from")', 'day_text("from")');
CREATE INDEX absence_by_employee ON absence (tenant_id, employee_id, id);
CREATE INDEX absence_by_substitute_employee ON absence (tenant_id, substitute_employee_id, id) WHERE substitute_employee_id IS NOT NULL;
CREATE INDEX absence_by_from ON absence (tenant_id, "from", id);
CREATE INDEX absence_by_until ON absence (tenant_id, until, id);
SELECT keep_external_ids('absence', ARRAY['substitute_employee_id']);


-- The bin, and merged objects (decisions 59 and 67) -------------------------------------------------------------------
-- Deleted objects stay restorable for 30 days, with everything that went with them. Names of merged objects keep answering.

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
  external_id text,
  PRIMARY KEY (tenant_id, resource, id)
);
COMMENT ON TABLE deleted_object IS 'Objects that were deleted in the last 30 days. Written in the transaction that deletes them.';
COMMENT ON COLUMN deleted_object.root_id IS 'The object that the request deleted: this one, or the owner that took it along. One root is restored as one.';
COMMENT ON COLUMN deleted_object.version IS 'The last one before the deletion.';
COMMENT ON COLUMN deleted_object.actor IS 'As in the journal.';
COMMENT ON COLUMN deleted_object.content IS 'The row by column names, as json: jsonb would rewrite numbers and reorder names.';
COMMENT ON COLUMN deleted_object.search_text IS 'Its texts in the spelling of fold().';
COMMENT ON COLUMN deleted_object.external_id IS 'As in the content. A column of its own, because an index under row-level security needs one.';
CREATE INDEX deleted_object_by_root ON deleted_object (tenant_id, root_id, resource);
CREATE INDEX deleted_object_by_time ON deleted_object (tenant_id, deleted_at, id);
CREATE INDEX deleted_object_by_age ON deleted_object (deleted_at);
CREATE INDEX deleted_object_by_external_id ON deleted_object (tenant_id, resource, external_id) WHERE external_id IS NOT NULL;
SELECT isolate_tenants('deleted_object');

CREATE TABLE former_id (
  tenant_id uuid NOT NULL,
  former_id uuid NOT NULL,
  id        uuid NOT NULL,
  merged_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, former_id)
);
COMMENT ON TABLE former_id IS 'Ids of objects that were merged into another one.';
COMMENT ON COLUMN former_id.id IS 'The object that answers now, never one that was merged itself.';
CREATE INDEX former_id_by_id ON former_id (tenant_id, id);
SELECT isolate_tenants('former_id');

CREATE TABLE former_external_id (
  tenant_id   uuid NOT NULL,
  resource    text NOT NULL,
  external_id text NOT NULL,
  id          uuid NOT NULL,
  PRIMARY KEY (tenant_id, resource, external_id)
);
COMMENT ON TABLE former_external_id IS 'External ids that a merge left without an object of their own. An object that has the id itself comes first.';
COMMENT ON COLUMN former_external_id.id IS 'The object that answers now.';
CREATE INDEX former_external_id_by_id ON former_external_id (tenant_id, id);
SELECT isolate_tenants('former_external_id');

-- Removes what is too old to be restored, at most so many per call, and returns their number. Former names of these objects go, too.
CREATE FUNCTION forget_deleted_objects(oldest timestamptz, most integer) RETURNS integer
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH old AS (
    SELECT tenant_id, resource, id FROM deleted_object
    WHERE deleted_at < oldest ORDER BY deleted_at LIMIT most FOR UPDATE SKIP LOCKED
  ), removed AS (
    DELETE FROM deleted_object USING old
    WHERE deleted_object.tenant_id = old.tenant_id AND deleted_object.resource = old.resource AND deleted_object.id = old.id
    RETURNING deleted_object.tenant_id, deleted_object.id
  ), removed_ids AS (
    DELETE FROM former_id USING removed WHERE former_id.tenant_id = removed.tenant_id AND former_id.id = removed.id
  ), removed_external_ids AS (
    DELETE FROM former_external_id USING removed
    WHERE former_external_id.tenant_id = removed.tenant_id AND former_external_id.id = removed.id
  )
  SELECT count(*)::integer FROM removed
$$;
REVOKE ALL ON FUNCTION forget_deleted_objects FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_deleted_objects TO stamm_service;


-- Attention -----------------------------------------------------------------------------------------------------------

CREATE TABLE left_attention (
  tenant_id uuid NOT NULL,
  resource  text NOT NULL,
  object_id uuid NOT NULL,
  field     text NOT NULL,
  code      text NOT NULL,
  finding   text NOT NULL,
  reason    text,
  person_id uuid NOT NULL,
  left_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, resource, object_id, field, code)
);
COMMENT ON TABLE left_attention IS 'Entries of the attention list that somebody has looked at and left as they are.';
COMMENT ON COLUMN left_attention.finding IS 'What was found then. An entry is shown again when it finds something else.';
SELECT isolate_tenants('left_attention');

CREATE TABLE corrected_request (
  tenant_id    uuid NOT NULL,
  request_id   uuid NOT NULL,
  resource     text NOT NULL,
  object_id    uuid NOT NULL,
  person_id    uuid NOT NULL,
  corrected_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, request_id)
);
COMMENT ON TABLE corrected_request IS 'Refused calls that somebody in the office corrected, and what was created instead.';
SELECT isolate_tenants('corrected_request');

CREATE TABLE attention_verdict (
  tenant_id uuid    NOT NULL,
  object_id uuid    NOT NULL,
  version   integer NOT NULL,
  judged_by text    NOT NULL,
  until     date    NOT NULL,
  codes     text[]  NOT NULL,
  PRIMARY KEY (tenant_id, object_id)
);
COMMENT ON TABLE attention_verdict IS 'What the attention list has found in objects that only the program can judge. Each can be found again.';
COMMENT ON COLUMN attention_verdict.version IS 'Of the object. Another version is judged again.';
COMMENT ON COLUMN attention_verdict.judged_by IS 'The rules: holidays of the business, version of the program.';
COMMENT ON COLUMN attention_verdict.until IS 'The last day on which the verdict holds.';
COMMENT ON COLUMN attention_verdict.codes IS 'What needs attention; empty for most objects.';
SELECT isolate_tenants('attention_verdict');

CREATE FUNCTION forget_attention_verdicts() RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
  DELETE FROM attention_verdict WHERE until < current_date - 1
$$;
COMMENT ON FUNCTION forget_attention_verdicts IS 'Ended verdicts, such as those about deleted objects.';
REVOKE ALL ON FUNCTION forget_attention_verdicts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_attention_verdicts TO stamm_service;


-- Imports (decision 66) -----------------------------------------------------------------------------------------------
-- What each import of the last 30 days wrote, to be undone as one step.

CREATE TABLE import_run (
  tenant_id       uuid NOT NULL,
  id              uuid NOT NULL,
  file_name       text,
  resource        text,
  started_at      timestamptz NOT NULL DEFAULT now(),
  written_at      timestamptz NOT NULL DEFAULT now(),
  actor           text NOT NULL,
  actor_id        uuid,
  created         integer NOT NULL DEFAULT 0,
  changed         integer NOT NULL DEFAULT 0,
  deleted         integer NOT NULL DEFAULT 0,
  settled         integer NOT NULL DEFAULT 0,
  kept            integer NOT NULL DEFAULT 0,
  undo_started_at timestamptz,
  undo_actor      text,
  undo_actor_id   uuid,
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

-- Names in files that the office assigned by hand. The next import offers the same object.
CREATE TABLE remembered_name (
  tenant_id     uuid NOT NULL,
  resource      text NOT NULL,
  name          text NOT NULL,
  object_id     uuid NOT NULL,
  actor         text NOT NULL,
  remembered_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, resource, name)
);
COMMENT ON TABLE remembered_name IS 'What a name in a file means, where no object has it or several do.';
COMMENT ON COLUMN remembered_name.name IS 'Folded as names in files are compared.';
COMMENT ON COLUMN remembered_name.object_id IS 'Of an object that may be deleted since: then nothing is offered.';
SELECT isolate_tenants('remembered_name');


-- Positions and calendars ---------------------------------------------------------------------------------------------

-- Positions that a geocoder proposes for sites without one.
CREATE TABLE position_proposal (
  tenant_id    uuid NOT NULL,
  site_id      uuid NOT NULL,
  address_hash text NOT NULL,
  state        text NOT NULL CHECK (state IN ('OPEN', 'NOT_FOUND', 'REJECTED')),
  lat          double precision,
  lng          double precision,
  found_as     text,
  asked_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, site_id),
  FOREIGN KEY (tenant_id, site_id) REFERENCES site ON DELETE CASCADE,
  CHECK ((state = 'NOT_FOUND') = (lat IS NULL) AND (lat IS NULL) = (lng IS NULL))
);
COMMENT ON TABLE position_proposal IS 'What a geocoder answered for the address of a site. The office accepts or rejects it.';
COMMENT ON COLUMN position_proposal.address_hash IS 'Of the address that was asked for. A proposal counts only while the site has this address.';
COMMENT ON COLUMN position_proposal.found_as IS 'The name that the geocoder gives to the place.';
SELECT isolate_tenants('position_proposal');

-- The visits of an employee or at a site, under a secret address.
CREATE TABLE calendar_feed (
  tenant_id  uuid NOT NULL REFERENCES tenant,
  resource   text NOT NULL CHECK (resource IN ('employee', 'site')),
  subject_id uuid NOT NULL,
  token_hash bytea NOT NULL,
  language   text NOT NULL CHECK (language IN ('de', 'en')),
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  PRIMARY KEY (tenant_id, resource, subject_id),
  UNIQUE (tenant_id, token_hash)
);
COMMENT ON TABLE calendar_feed IS 'At most one for each employee and site. A deleted subject keeps its row and answers nothing.';
COMMENT ON COLUMN calendar_feed.token_hash IS 'SHA-256 of the secret part of the address, which is shown once.';
COMMENT ON COLUMN calendar_feed.language IS 'Of the texts: calendar programs do not say which one they want.';
SELECT isolate_tenants('calendar_feed');


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
-- A test business is no business that the first person could join.
CREATE FUNCTION find_setup_link(hash bytea) RETURNS TABLE (tenant_id uuid, business_name text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT only_one.tenant_id, only_one.name
  FROM setup_link LEFT JOIN (
    SELECT min(tenant.tenant_id::text)::uuid AS tenant_id, min(tenant.name) AS name FROM tenant
    WHERE NOT EXISTS (SELECT FROM test_business AS test WHERE test.tenant_id = tenant.tenant_id) HAVING count(*) = 1
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
    started_at = CASE WHEN is_window_over(known.started_at, excluded.started_at, window_seconds)
      THEN excluded.started_at ELSE known.started_at END,
    attempts = CASE WHEN is_window_over(known.started_at, excluded.started_at, window_seconds)
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
  tenant_id           uuid NOT NULL,
  id                  uuid NOT NULL,
  person_id           uuid NOT NULL,
  token_hash          bytea NOT NULL,
  created_at          timestamptz NOT NULL DEFAULT now(),
  last_used_at        timestamptz NOT NULL DEFAULT now(),
  address             text NOT NULL,
  user_agent          text NOT NULL,
  proved_at           timestamptz NOT NULL DEFAULT now(),
  is_in_test_business boolean NOT NULL DEFAULT false,
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

-- As find_session, with the test business, and whether the session works in it. (Decision 93.)
CREATE FUNCTION find_session_and_business(hash bytea, idle interval, lifetime interval)
  RETURNS TABLE (tenant_id uuid, session_id uuid, person_id uuid, name text, email text, role text, business_name text,
    proof_age_seconds double precision, needs_passkey boolean, test_tenant_id uuid, is_in_test_business boolean)
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT found.*, test.tenant_id, test.tenant_id IS NOT NULL AND session.is_in_test_business
  FROM find_session(hash, idle, lifetime) AS found
  JOIN session ON session.tenant_id = found.tenant_id AND session.id = found.session_id
  JOIN tenant ON tenant.tenant_id = found.tenant_id
  LEFT JOIN test_business AS test ON test.tenant_id = tenant.test_tenant_id AND test.goal <> 'REMOVED'
$$;
REVOKE ALL ON FUNCTION find_session_and_business FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_session_and_business TO stamm_service;

-- Views: filters, order and columns of a table in the office, under a name.
CREATE TABLE saved_view (
  tenant_id  uuid NOT NULL,
  id         uuid NOT NULL,
  person_id  uuid,
  resource   text NOT NULL,
  name       text NOT NULL,
  search     text NOT NULL,
  columns    text[] NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, person_id) REFERENCES person ON DELETE CASCADE
);
COMMENT ON TABLE saved_view IS 'What a person, or everybody of a business, likes to see of a table.';
COMMENT ON COLUMN saved_view.person_id IS 'NULL: the view is shared, and stays when a colleague leaves.';
COMMENT ON COLUMN saved_view.search IS 'The query string of the page.';
CREATE INDEX saved_view_by_person ON saved_view (tenant_id, person_id);
SELECT isolate_tenants('saved_view');


-- Webhooks (decision 44) ----------------------------------------------------------------------------------------------
-- Where changes are sent, how far each endpoint has got, and the result of each attempt.

CREATE TABLE webhook (
  tenant_id               uuid NOT NULL REFERENCES tenant,
  id                      uuid NOT NULL,
  url                     text NOT NULL,
  resources               text[],
  secret                  text NOT NULL,
  previous_secret         text,
  previous_secret_ends_at timestamptz,
  created_at              timestamptz NOT NULL DEFAULT now(),
  last_position           bigint NOT NULL,
  failed_attempts         integer NOT NULL DEFAULT 0,
  failing_since           timestamptz,
  next_attempt_at         timestamptz NOT NULL DEFAULT now(),
  paused_at               timestamptz,
  paused_because          text CHECK (paused_because IN ('ASKED', 'GONE', 'FAILED')),
  lease                   uuid,
  leased_until            timestamptz,
  actions                 text[],
  exclude_origin          text,
  PRIMARY KEY (tenant_id, id),
  CHECK ((paused_at IS NULL) = (paused_because IS NULL))
) WITH (fillfactor = 70);
COMMENT ON TABLE webhook IS 'An endpoint that receives the changes of a tenant, at most ten each.';
COMMENT ON COLUMN webhook.resources IS 'Types that it receives; NULL for all.';
COMMENT ON COLUMN webhook.secret IS 'Signs each message, so it cannot be a hash.';
COMMENT ON COLUMN webhook.last_position IS 'Position in the journal up to which everything is delivered or not wanted.';
COMMENT ON COLUMN webhook.lease IS 'The only sender that may move last_position. A new one for each claim, so a late sender changes nothing.';
COMMENT ON COLUMN webhook.actions IS 'CREATED, CHANGED or DELETED; NULL for all.';
COMMENT ON COLUMN webhook.exclude_origin IS 'Changes with this origin are not sent.';
CREATE INDEX webhook_due ON webhook (next_attempt_at) WHERE paused_at IS NULL;

CREATE TABLE webhook_delivery (
  tenant_id   uuid NOT NULL,
  webhook_id  uuid NOT NULL,
  id          uuid NOT NULL,
  at          timestamptz NOT NULL DEFAULT now(),
  type        text NOT NULL,
  position    bigint,
  status      smallint,
  error       text,
  duration_ms integer NOT NULL,
  answer      text,
  PRIMARY KEY (tenant_id, webhook_id, id),
  FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhook ON DELETE CASCADE
);
COMMENT ON TABLE webhook_delivery IS 'Attempts of the last 30 days, the newest of them where there are too many.';
COMMENT ON COLUMN webhook_delivery.id IS 'Begins with the time, so ids sort like it.';
COMMENT ON COLUMN webhook_delivery.position IS 'The entry of the journal; NULL for a test.';
COMMENT ON COLUMN webhook_delivery.status IS 'HTTP status; NULL where none came, and error says why.';
COMMENT ON COLUMN webhook_delivery.answer IS 'The first kilobyte of the answer.';
CREATE INDEX webhook_delivery_by_age ON webhook_delivery (at);
CREATE INDEX webhook_delivery_with_answer ON webhook_delivery (tenant_id, webhook_id, id) WHERE answer IS NOT NULL;

SELECT isolate_tenants(name) FROM unnest(ARRAY['webhook', 'webhook_delivery']::regclass[]) AS name;

-- Renews the leases that a sender holds and gives it more endpoints with work to do, the longest waiting first. It returns
-- neither addresses nor secrets: the sender reads those as the tenant.
--
-- An endpoint that does not fail never waits. A lease cannot last much longer than one that is given now: a transaction that
-- began earlier may see a lease that a later one has given, so twice its time is the bound.
CREATE FUNCTION claim_webhooks(held_tenants uuid[], held_ids uuid[], held_leases uuid[], lease_ms integer, most integer)
  RETURNS TABLE (tenant_id uuid, id uuid, lease uuid)
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH renewed AS (
    UPDATE webhook SET leased_until = now() + lease_ms * interval '1 millisecond'
    FROM unnest(held_tenants, held_ids, held_leases) AS held (tenant_id, id, lease)
    WHERE webhook.tenant_id = held.tenant_id AND webhook.id = held.id AND webhook.lease = held.lease
      AND webhook.leased_until > now()
    RETURNING webhook.tenant_id, webhook.id, webhook.lease
  ), due AS (
    SELECT waiting.tenant_id, waiting.id FROM webhook AS waiting JOIN journal_head AS head USING (tenant_id)
    WHERE waiting.paused_at IS NULL AND (waiting.failed_attempts = 0 OR waiting.next_attempt_at <= now())
      AND (waiting.leased_until IS NULL OR waiting.leased_until <= now()
        OR (waiting.leased_until > now() + lease_ms * interval '2 milliseconds' AND waiting.lease <> ALL (held_leases)))
      AND head.last_position > waiting.last_position
    ORDER BY waiting.next_attempt_at LIMIT most FOR UPDATE OF waiting SKIP LOCKED
  ), claimed AS (
    UPDATE webhook SET lease = gen_random_uuid(), leased_until = now() + lease_ms * interval '1 millisecond'
    FROM due WHERE webhook.tenant_id = due.tenant_id AND webhook.id = due.id
    RETURNING webhook.tenant_id, webhook.id, webhook.lease
  )
  SELECT * FROM renewed UNION ALL SELECT * FROM claimed
$$;

-- Keeps the log within its bounds and ends replaced secrets; one process at a time does it, every hour.
CREATE FUNCTION trim_webhook_deliveries(oldest timestamptz, rows_each integer, answers_each integer) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  endpoint record;
  cut uuid;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('stamm: trim webhook deliveries', 0)) THEN RETURN; END IF;
  DELETE FROM webhook_delivery WHERE at < oldest;
  FOR endpoint IN SELECT tenant_id, id FROM webhook LOOP
    SELECT id INTO cut FROM webhook_delivery
    WHERE tenant_id = endpoint.tenant_id AND webhook_id = endpoint.id ORDER BY id DESC OFFSET rows_each LIMIT 1;
    DELETE FROM webhook_delivery WHERE tenant_id = endpoint.tenant_id AND webhook_id = endpoint.id AND id <= cut;
    SELECT id INTO cut FROM webhook_delivery
    WHERE tenant_id = endpoint.tenant_id AND webhook_id = endpoint.id AND answer IS NOT NULL
    ORDER BY id DESC OFFSET answers_each LIMIT 1;
    UPDATE webhook_delivery SET answer = NULL
    WHERE tenant_id = endpoint.tenant_id AND webhook_id = endpoint.id AND answer IS NOT NULL AND id <= cut;
  END LOOP;
  UPDATE webhook SET previous_secret = NULL, previous_secret_ends_at = NULL WHERE previous_secret_ends_at < now();
END $$;

REVOKE ALL ON FUNCTION claim_webhooks, trim_webhook_deliveries FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_webhooks, trim_webhook_deliveries TO stamm_service;

-- The addresses that the real business of a test business sends changes to; none for any other tenant.
CREATE FUNCTION real_webhook_urls(test_tenant uuid) RETURNS SETOF text
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT webhook.url FROM test_business AS test JOIN webhook ON webhook.tenant_id = test.real_tenant_id
  WHERE test.tenant_id = test_tenant AND test_tenant = ANY (current_tenants())
$$;
REVOKE ALL ON FUNCTION real_webhook_urls FROM PUBLIC;
GRANT EXECUTE ON FUNCTION real_webhook_urls TO stamm_service;

-- Figures over all tenants for the operator's monitoring. They name no tenant.
CREATE FUNCTION service_figures()
  RETURNS TABLE (journal_entries numeric, webhook_queue numeric, webhook_oldest_seconds double precision)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT (SELECT coalesce(sum(last_position), 0) FROM journal_head), waiting.entries, waiting.oldest
  FROM (
    SELECT coalesce(sum(head.last_position - webhook.last_position), 0) AS entries,
      coalesce(extract(epoch FROM now() - min(entry.at)), 0)::double precision AS oldest
    FROM webhook JOIN journal_head AS head ON head.tenant_id = webhook.tenant_id
    LEFT JOIN journal AS entry
      ON entry.tenant_id = webhook.tenant_id AND entry.position = webhook.last_position + 1
    WHERE webhook.paused_at IS NULL AND head.last_position > webhook.last_position
  ) AS waiting
$$;
REVOKE ALL ON FUNCTION service_figures FROM PUBLIC;
GRANT EXECUTE ON FUNCTION service_figures TO stamm_service;


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
  errors         json,
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


-- Background work and backups -----------------------------------------------------------------------------------------

-- Any process can read what work that no request waits for did last: "doctor" and the metrics do.
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

-- Verwaltung sees the newest backup of each folder, and a folder that held backups is not made again unnoticed.
CREATE TABLE backup_folder (
  folder  text PRIMARY KEY,
  made_at timestamptz NOT NULL,
  bytes   bigint NOT NULL
);
COMMENT ON TABLE backup_folder IS 'The folders in which Stamm has written backups of everything, each with its newest.';
COMMENT ON COLUMN backup_folder.bytes IS 'Size of that file.';
ALTER TABLE backup_folder ENABLE ROW LEVEL SECURITY;
ALTER TABLE backup_folder FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_administers ON backup_folder TO current_user USING (true);

-- When the newest backup of all was made, its size, and a failure since then. NULL for what there was not yet.
CREATE FUNCTION last_backup(OUT made_at timestamptz, OUT bytes bigint, OUT failed_at timestamptz)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT newest.made_at, newest.bytes, failure.failed_at
  FROM (SELECT) AS always
    LEFT JOIN (SELECT * FROM backup_folder ORDER BY made_at DESC LIMIT 1) AS newest ON true
    LEFT JOIN background_work AS failure ON failure.work = 'backup'
      AND (newest.made_at IS NULL OR failure.failed_at > newest.made_at)
$$;
REVOKE ALL ON FUNCTION last_backup FROM PUBLIC;
GRANT EXECUTE ON FUNCTION last_backup TO stamm_service;


-- Statistics ----------------------------------------------------------------------------------------------------------

-- Analyses tables that have grown since their last ANALYZE, which has their statements planned again. Autovacuum comes
-- once per minute; a first synchronisation fills tables faster. A large table is analysed when it has doubled, however
-- often somebody asks. SKIP_LOCKED leaves out tables that somebody else analyses.
CREATE FUNCTION refresh_statistics() RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  few_pages CONSTANT integer := 64;
  grown regclass;
BEGIN
  FOR grown IN
    SELECT oid FROM pg_class, LATERAL (
      SELECT pg_relation_size(oid) / current_setting('block_size')::bigint AS pages OFFSET 0) AS today
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relrowsecurity
      AND pages > CASE WHEN pages <= few_pages THEN greatest(relpages, 1) ELSE 2 * relpages::bigint END
  LOOP
    EXECUTE format('ANALYZE (SKIP_LOCKED) %s', grown);
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION refresh_statistics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION refresh_statistics TO stamm_service;
