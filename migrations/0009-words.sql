-- A search costs the same in a business with ten sites and in one with a million, and whatever other businesses have: the
-- words of each object stand in one table, in a B-tree that begins with the tenant. What begins with a word is a range of
-- it, of which no more is read than is wanted. The trigram indexes of before hold the letters of all tenants together,
-- and a search walks through all of them. (Decision 20.)

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

-- A folded text with nothing but spaces between its words, and at both ends. It has an end: nobody types a page to find
-- something. Most texts have no other signs, and looking for one is quicker than replacing each.
CREATE FUNCTION space_words(folded text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN ' ' || CASE WHEN folded ~ '[^a-z0-9 ]'
    THEN translate(left(folded, 1000), E'\t\n\r\u00a0!"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~«»’„“”–—', repeat(' ', 45))
    ELSE left(folded, 1000) END || ' ';

-- The words of a folded text, of which an index entry has room for the beginning.
CREATE FUNCTION words_of(folded text) RETURNS SETOF text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 3
  AS $$ SELECT left(word, 60) FROM string_to_table(space_words(folded), ' ') AS word WHERE word <> '' $$;

-- Triggers that keep the words, once for each statement and not for each row.
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

CREATE OR REPLACE FUNCTION prepare_search(target regclass) RETURNS void
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

-- Above every word that begins like this one.
CREATE FUNCTION end_of_words(beginning text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN beginning || chr(1114111);

-- Both functions below read ranges in the order of the index and stop early. A planner who thinks of the average tenant
-- would rather collect a range as a whole and sort it, which for the largest tenant is a million rows.

-- Words that somebody may have meant who typed one that begins no word: those that hold it, or resemble it. They are
-- looked for among words that begin with the same half, the same two letters, the same letter, and among all, each time
-- among so many at most that the answer is not late. Numbers are not guessed.
CREATE FUNCTION resembling_words(tenant uuid, table_name text, typed text) RETURNS text[]
  LANGUAGE plpgsql STABLE SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  most_words CONSTANT integer := 400;
  size integer;
  start text;
  finish text;
  found text[];
BEGIN
  IF length(typed) < 3 OR typed ~ '^\d' THEN RETURN '{}'; END IF;
  FOR size IN SELECT DISTINCT unnest(ARRAY[greatest(2, length(typed) / 2), 2, 1, 0]) ORDER BY 1 DESC LOOP
    -- Digits come before letters.
    start := CASE size WHEN 0 THEN 'a' ELSE left(typed, size) END;
    finish := end_of_words(left(typed, size));
    -- From each word to the next other one, past all objects that have it.
    WITH RECURSIVE known (word, place) AS (
      (SELECT word, 1 FROM search_word
       WHERE tenant_id = tenant AND resource = table_name AND word >= start AND word < finish
       ORDER BY word LIMIT 1)
      UNION ALL
      SELECT following.word, known.place + 1 FROM known, LATERAL (
        SELECT word FROM search_word
        WHERE tenant_id = tenant AND resource = table_name AND word > known.word AND word < finish
        ORDER BY word LIMIT 1) AS following
      WHERE known.place < most_words
    )
    SELECT array_agg(word) INTO found FROM known
    WHERE strpos(word, typed) > 0 OR word_similarity(typed, word) >= 0.5;
    IF found IS NOT NULL THEN RETURN found; END IF;
  END LOOP;
  RETURN '{}';
END $$;

-- The ids of objects that have, for each word that was asked for, a word that begins with it, or else one that resembles it.
CREATE FUNCTION search(tenant uuid, table_name text, asked text[], most integer) RETURNS SETOF uuid
  LANGUAGE plpgsql STABLE SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  typed text;
  beginnings text[];
  matches integer;
  fewest integer;
  rarest text[];
  ends text[];
  condition text := '';
  word_count integer := 0;
BEGIN
  FOR typed IN SELECT DISTINCT word FROM words_of(fold(array_to_string(asked, ' '))) AS word LOOP
    SELECT count(*) INTO matches FROM (
      SELECT FROM search_word WHERE tenant_id = tenant AND resource = table_name
        AND word >= typed AND word < end_of_words(typed) LIMIT most) AS counted;
    beginnings := CASE WHEN matches > 0 THEN ARRAY[typed] ELSE resembling_words(tenant, table_name, typed) END;
    IF cardinality(beginnings) = 0 THEN RETURN; END IF;
    IF fewest IS NULL OR matches < fewest THEN
      fewest := matches;
      rarest := beginnings;
    END IF;
    word_count := word_count + 1;
    condition := condition || format(' AND space_words(found.search_text) LIKE ANY (%L)',
      ARRAY(SELECT '% ' || beginning || '%' FROM unnest(beginnings) AS beginning));
  END LOOP;
  -- Compared with plain values: with row-level security an index is not used for what a function makes of a column.
  ends := ARRAY(SELECT end_of_words(beginning) FROM unnest(rarest) AS beginning);
  IF word_count <= 1 THEN
    RETURN QUERY SELECT DISTINCT known.id FROM unnest(rarest, ends) AS range (first, last), LATERAL (
      SELECT search_word.id FROM search_word WHERE tenant_id = tenant AND resource = table_name
        AND word >= range.first AND word < range.last ORDER BY word, search_word.id LIMIT most) AS known LIMIT most;
  ELSE
    -- The other words are compared in the text of each object that has the rarest, until there are enough.
    RETURN QUERY EXECUTE format('SELECT DISTINCT known.id FROM (
      SELECT known.id FROM unnest($3, $4) AS range (first, last),
      LATERAL (SELECT id FROM search_word WHERE tenant_id = $1 AND resource = $2
        AND word >= range.first AND word < range.last ORDER BY word OFFSET 0) AS known,
      LATERAL (SELECT FROM %I AS found WHERE found.tenant_id = $1 AND found.id = known.id %s LIMIT 1) AS text
      LIMIT $5) AS known', table_name, condition) USING tenant, table_name, rarest, ends, most;
  END IF;
END $$;

REVOKE ALL ON FUNCTION space_words, words_of, add_words, remove_words, change_words, end_of_words, resembling_words, search FROM PUBLIC;
GRANT EXECUTE ON FUNCTION space_words, words_of, add_words, remove_words, change_words, end_of_words, resembling_words, search
  TO stamm_service;

DO $$
DECLARE
  target regclass;
BEGIN
  FOREACH target IN ARRAY ARRAY[
    'customer', 'site', 'contact_person', 'contract', 'plant', 'container', 'product', 'employee']::regclass[]
  LOOP
    EXECUTE format('DROP INDEX %s_search', target);
    EXECUTE format('DROP FUNCTION search_%s', target);
    PERFORM prepare_search(target);
  END LOOP;
END $$;
DROP FUNCTION word_condition, resembling_condition, like_part;

-- As in 0007, without an index of letters.
CREATE OR REPLACE FUNCTION prepare_resource(target regclass, sorted_by text, searched text) RETURNS void
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
