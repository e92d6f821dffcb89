-- A typing error is found wherever in the word it is and however many words a business has: the word is looked up in each
-- spelling that differs from it in one place, which takes as long among a hundred words as among a million. And the range of
-- each word is read once, not once to see how long it is and then again. (Decision 20.)

-- All of these read ranges in the order of the index and stop early. A planner who thinks of the average tenant would rather
-- collect a range as a whole and sort it, so search(), which calls the others, keeps it from that.

-- What somebody may have meant who made one mistake: a letter too many, too few or another one, or two swapped.
CREATE FUNCTION corrections_of(typed text) RETURNS SETOF text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 500
  AS $$
    SELECT DISTINCT correction FROM generate_series(1, length(typed)) AS place,
      LATERAL (SELECT left(typed, place - 1) AS before, substr(typed, place, 1) AS letter, substr(typed, place + 1) AS after) AS part,
      LATERAL (
        SELECT before || after
        UNION ALL SELECT before || left(after, 1) || letter || substr(after, 2)
        UNION ALL SELECT before || other || rest
        FROM string_to_table('abcdefghijklmnopqrstuvwxyz', NULL) AS other, (VALUES (after), (letter || after)) AS kept (rest)
      ) AS corrected (correction)
    WHERE correction <> typed
  $$;
-- Words that somebody may have meant who typed one that begins no word. With one mistake it begins them in another spelling.
-- With more, or if it is a part of them, they are looked for among words that begin with the same half, the same two
-- letters, and among all, each time among so many at most that the answer is not late. Numbers are not guessed.
CREATE OR REPLACE FUNCTION resembling_words(tenant uuid, table_name text, typed text) RETURNS text[]
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  corrections text[];
  size integer;
  start text;
  finish text;
  found text[];
BEGIN
  IF length(typed) < 3 OR typed ~ '^\d' THEN RETURN '{}'; END IF;
  IF length(typed) > 3 THEN
    corrections := ARRAY(SELECT corrections_of(left(typed, 30)));
    -- Compared with plain values, like all words here.
    SELECT array_agg(first) INTO found
    FROM unnest(corrections, ARRAY(SELECT end_of_words(correction) FROM unnest(corrections) AS correction)) AS range (first, last),
      LATERAL (SELECT FROM search_word
        WHERE tenant_id = tenant AND resource = table_name AND word >= first AND word < last LIMIT 1) AS known;
    IF found IS NOT NULL THEN RETURN found; END IF;
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
    SELECT array_agg(word) INTO found FROM known
    WHERE strpos(word, typed) > 0 OR word_similarity(typed, word) >= 0.5;
    IF found IS NOT NULL THEN RETURN found; END IF;
  END LOOP;
  RETURN '{}';
END $$;

-- The ids of objects with a word that begins with one of these. Words are compared with plain values: below row-level
-- security an index is not used for what a function makes of a column.
CREATE FUNCTION ids_with_words(tenant uuid, table_name text, beginnings text[], ends text[], most integer) RETURNS uuid[]
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(SELECT DISTINCT known.id FROM unnest(beginnings, ends) AS range (first, last), LATERAL (
    SELECT id FROM search_word WHERE tenant_id = tenant AND resource = table_name
      AND word >= range.first AND word < range.last ORDER BY word, id LIMIT most) AS known LIMIT most);
END $$;

-- The ids of objects that have, for each word that was asked for, a word that begins with it, or else one that resembles it.
CREATE OR REPLACE FUNCTION search(tenant uuid, table_name text, asked text[], most integer) RETURNS SETOF uuid
  LANGUAGE plpgsql STABLE SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  typed text;
  beginnings text[];
  ends text[];
  ids uuid[];
  rarest_beginnings text[];
  rarest_ends text[];
  rarest_ids uuid[];
  condition text := '';
  word_count integer := 0;
BEGIN
  FOR typed IN SELECT DISTINCT word FROM words_of(fold(array_to_string(asked, ' '))) AS word LOOP
    beginnings := ARRAY[typed];
    ends := ARRAY[end_of_words(typed)];
    ids := ids_with_words(tenant, table_name, beginnings, ends, most);
    IF cardinality(ids) = 0 THEN
      beginnings := resembling_words(tenant, table_name, typed);
      ends := ARRAY(SELECT end_of_words(beginning) FROM unnest(beginnings) AS beginning);
      ids := ids_with_words(tenant, table_name, beginnings, ends, most);
    END IF;
    IF cardinality(ids) = 0 THEN RETURN; END IF;
    IF rarest_ids IS NULL OR cardinality(ids) < cardinality(rarest_ids) THEN
      rarest_beginnings := beginnings;
      rarest_ends := ends;
      rarest_ids := ids;
    END IF;
    word_count := word_count + 1;
    condition := condition || format(' AND space_words(found.search_text) LIKE ANY (%L)',
      ARRAY(SELECT '% ' || beginning || '%' FROM unnest(beginnings) AS beginning));
  END LOOP;
  IF word_count <= 1 THEN
    RETURN QUERY SELECT unnest(rarest_ids);
  ELSE
    -- The other words are compared in the text of each object that has the rarest, until there are enough.
    RETURN QUERY EXECUTE format('SELECT DISTINCT known.id FROM (
      SELECT known.id FROM unnest($3, $4) AS range (first, last),
      LATERAL (SELECT id FROM search_word WHERE tenant_id = $1 AND resource = $2
        AND word >= range.first AND word < range.last ORDER BY word OFFSET 0) AS known,
      LATERAL (SELECT FROM %I AS found WHERE found.tenant_id = $1 AND found.id = known.id %s LIMIT 1) AS text
      LIMIT $5) AS known', table_name, condition)
    USING tenant, table_name, rarest_beginnings, rarest_ends, most;
  END IF;
END $$;

REVOKE ALL ON FUNCTION corrections_of, ids_with_words FROM PUBLIC;
GRANT EXECUTE ON FUNCTION corrections_of, ids_with_words TO stamm_service;
