-- What a search finds is one array and not a set of rows: its only use is to be compared with, and to hand a thousand ids over
-- one by one and collect them again took a sixth of such a search. (Decision 20.)

DROP FUNCTION search;

-- The ids of objects that have, for each word that was asked for, a word that begins with it, or else one that resembles it;
-- some may be there twice.
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
  -- A rare word leaves few objects, whose texts are compared with the other words. If all words are common, so are
  -- objects with all of them as a rule, and some thousand are compared.
  IF cardinality(rarest) = most THEN
    EXECUTE format('SELECT ARRAY(%s LIMIT $3)', ranges[1]) INTO rarest USING tenant, table_name, most_compared;
  END IF;
  EXECUTE format('SELECT ARRAY(SELECT found.id FROM %I AS found
    WHERE found.tenant_id = $1 AND found.id = ANY ($2) %s LIMIT $3)', table_name, conditions)
    INTO ids USING tenant, rarest, most;
  IF cardinality(rarest) < most_compared OR cardinality(ids) = most THEN
    RETURN ids;
  END IF;
  -- Where they are not, all objects of each word are.
  EXECUTE format('SELECT ARRAY(%s LIMIT $3)', array_to_string(ranges, ' INTERSECT ')) INTO ids USING tenant, table_name, most;
  RETURN ids;
END $$;

REVOKE ALL ON FUNCTION search FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search TO stamm_service;
