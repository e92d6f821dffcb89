-- A typing error is found wherever in the word it is and however many words a business has: the word is looked up in each
-- spelling that differs from it in one place, which takes as long among a hundred words as among a million. (Decision 20.)

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
REVOKE ALL ON FUNCTION corrections_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION corrections_of TO stamm_service;

-- Words that somebody may have meant who typed one that begins no word. With one mistake it begins them in another spelling.
-- With more, or if it is a part of them, they are looked for among words that begin with the same half, the same two
-- letters, and among all, each time among so many at most that the answer is not late. Numbers are not guessed.
CREATE OR REPLACE FUNCTION resembling_words(tenant uuid, table_name text, typed text) RETURNS text[]
  LANGUAGE plpgsql STABLE SET enable_bitmapscan = off SET enable_sort = off AS $$
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
