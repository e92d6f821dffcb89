-- A typing error is found wherever in the word it is and however many words a business has: the word is looked up in
-- spellings that differ from it in one place, which takes as long among a thousand words as among a million. And the range of
-- each word is read once, not once to see how long it is and then again. (Decision 20.)

-- All of these read ranges in the order of the index and stop early. A planner who thinks of the average tenant would rather
-- collect a range as a whole and sort it, so search(), which calls the others, keeps it from that.

-- Those of these with which a word begins. Words are compared with plain values: below row-level security an index is not
-- used for what a function makes of a column.
CREATE FUNCTION known_beginnings(tenant uuid, table_name text, asked text[]) RETURNS text[]
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  ends text[] := ARRAY(SELECT end_of_words(beginning) FROM unnest(asked) AS beginning);
BEGIN
  RETURN ARRAY(SELECT first FROM unnest(asked, ends) AS range (first, last), LATERAL (
    SELECT FROM search_word WHERE tenant_id = tenant AND resource = table_name AND word >= first AND word < last LIMIT 1) AS known);
END $$;

-- What somebody may have meant who made one mistake, if a word begins so: a letter too many, too few or another one, or two
-- swapped.
CREATE FUNCTION known_corrections(tenant uuid, table_name text, typed text) RETURNS text[]
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  beginnings text[] := ARRAY(SELECT left(typed, letters) FROM generate_series(0, length(typed) - 1) AS letters);
  -- Up to its mistake it begins like a word.
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

-- Words that somebody may have meant who typed one that begins no word. With one mistake it begins them in another spelling.
-- With more, or if it is a part of them, they are looked for among words that begin with the same half, the same two
-- letters, and among all, each time among so many at most that the answer is not late. Numbers are not guessed.
CREATE OR REPLACE FUNCTION resembling_words(tenant uuid, table_name text, typed text) RETURNS text[]
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
      WHERE known.place < CASE size WHEN 0 THEN 4000 ELSE 400 END
    )
    SELECT array_agg(word) INTO found FROM (
      SELECT word FROM known WHERE strpos(word, typed) > 0 OR word_similarity(typed, word) >= 0.5 LIMIT 100) AS resembling;
    IF found IS NOT NULL THEN RETURN found; END IF;
  END LOOP;
  RETURN '{}';
END $$;

-- The ids of objects with a word that begins with one of these; one that has two such words is there twice.
CREATE FUNCTION ids_with_words(tenant uuid, table_name text, beginnings text[], ends text[], most integer) RETURNS uuid[]
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(SELECT known.id FROM unnest(beginnings, ends) AS range (first, last), LATERAL (
    SELECT id FROM search_word WHERE tenant_id = tenant AND resource = table_name
      AND word >= range.first AND word < range.last ORDER BY word, id LIMIT most) AS known LIMIT most);
END $$;

-- The ids of objects that have, for each word that was asked for, a word that begins with it, or else one that resembles it.
CREATE OR REPLACE FUNCTION search(tenant uuid, table_name text, asked text[], most integer) RETURNS SETOF uuid
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
    IF cardinality(ids) = 0 THEN RETURN; END IF;
    IF rarest IS NULL OR cardinality(ids) < cardinality(rarest) THEN rarest := ids; END IF;
    conditions := conditions || format(' AND space_words(found.search_text) LIKE ANY (%L)',
      ARRAY(SELECT '% ' || beginning || '%' FROM unnest(beginnings) AS beginning));
    ranges := ranges || format('SELECT known.id FROM unnest(%L::text[], %L::text[]) AS range (first, last), LATERAL (
      SELECT id FROM search_word WHERE tenant_id = $1 AND resource = $2
        AND word >= range.first AND word < range.last ORDER BY word, id OFFSET 0) AS known', beginnings, ends);
  END LOOP;
  IF cardinality(ranges) <= 1 THEN
    RETURN QUERY SELECT DISTINCT unnest(rarest);
    RETURN;
  END IF;
  -- A rare word leaves few objects, whose texts are compared with the other words. If all words are common, so are
  -- objects with all of them as a rule, and some thousand are compared.
  IF cardinality(rarest) = most THEN
    EXECUTE format('SELECT ARRAY(%s LIMIT $3)', ranges[1]) INTO rarest USING tenant, table_name, most_compared;
  END IF;
  EXECUTE format('SELECT ARRAY(SELECT found.id FROM %I AS found
    WHERE found.tenant_id = $1 AND found.id = ANY ($2) %s LIMIT $3)', table_name, conditions)
    INTO ids USING tenant, rarest, most;
  IF cardinality(rarest) < most_compared OR cardinality(ids) = most THEN
    RETURN QUERY SELECT unnest(ids);
  ELSE
    -- Where they are not, all objects of each word are.
    RETURN QUERY EXECUTE array_to_string(ranges, ' INTERSECT ') || ' LIMIT $3' USING tenant, table_name, most;
  END IF;
END $$;

REVOKE ALL ON FUNCTION known_beginnings, known_corrections, ids_with_words FROM PUBLIC;
GRANT EXECUTE ON FUNCTION known_beginnings, known_corrections, ids_with_words TO stamm_service;
