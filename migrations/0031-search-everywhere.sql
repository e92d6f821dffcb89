-- The search looks in everything that identifies an object, and in the names of the objects that it belongs to. (Decision 56.)
-- contract: nothing was released before this migration, so no older node runs.
-- Oldest node: 0031

COMMENT ON COLUMN search_word.resource IS 'The table of the object: alone for words of its name, with ":detail" for all others.';
COMMENT ON COLUMN search_word.word IS 'In the spelling of fold(). A code begins with "=", a telephone number with "+".';

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

DROP FUNCTION search, resembling_words, ids_with_words;

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
-- may repeat. An array, because handing over a thousand ids as rows took a sixth of the time.
-- described is an expression on a row named "found", with the tenant in $1: all words by which it is found, a space before each.
CREATE FUNCTION search(tenant uuid, table_name text, asked text[], most integer, is_tolerant boolean, described text,
    owners text[], expansions text[]) RETURNS uuid[]
  LANGUAGE plpgsql STABLE SET enable_bitmapscan = off SET enable_sort = off SET work_mem = '64MB' AS $$
DECLARE
  most_words CONSTANT integer := 8;
  most_compared CONSTANT integer := 5000;
  most_intersected CONSTANT integer := 200000;
  resources CONSTANT text[] := ARRAY[table_name, table_name || ':detail'];
  term record;
  beginnings text[];
  ids uuid[];
  is_whole boolean;
  rarest uuid[];
  conditions text := '';
  terms json[] := '{}';
BEGIN
  FOR term IN
    -- A typed code is one term, where such a code exists. Else each of its words is one.
    WITH typed AS (
      SELECT token, code_word(token) AS code, ARRAY(SELECT words_of(fold(token))) AS words FROM unnest(asked) AS token
    ), coded AS (
      SELECT *, cardinality(words) > 1 AND cardinality(known_beginnings(tenant, resources[2], ARRAY[code])) > 0 AS is_code FROM typed
    )
    SELECT NULL AS word, ARRAY[code] AS spellings FROM coded WHERE is_code
    UNION ALL
    (SELECT word, array_cat(ARRAY[word, '=' || word],
        CASE WHEN min(token) ~ '^\+?[0-9]{3,}$' THEN ARRAY[phone_word(min(token))] END)
     FROM coded, unnest(words) AS word WHERE NOT is_code
     GROUP BY word ORDER BY length(word) DESC LIMIT most_words)
  LOOP
    beginnings := term.spellings;
    SELECT * INTO ids, is_whole FROM ids_with_term(tenant, resources, beginnings, most, owners, expansions);
    IF cardinality(ids) = 0 AND is_tolerant AND term.word IS NOT NULL THEN
      beginnings := resembling_words(tenant, resources || owners, term.word);
      SELECT * INTO ids, is_whole FROM ids_with_term(tenant, resources, beginnings, most, owners, expansions);
    END IF;
    IF cardinality(ids) = 0 THEN RETURN '{}'; END IF;
    IF is_whole AND (rarest IS NULL OR cardinality(ids) < cardinality(rarest)) THEN rarest := ids; END IF;
    terms := terms || to_json(beginnings);
    conditions := conditions || format(' AND words LIKE ANY (%L)',
      ARRAY(SELECT '% ' || beginning || '%' FROM unnest(beginnings) AS beginning));
  END LOOP;
  IF cardinality(terms) <= 1 THEN RETURN coalesce(ids, '{}'); END IF;
  -- A rare word leaves few objects: compare their texts with the other words. If all words are common, so usually are
  -- objects with all of them: compare some thousand.
  is_whole := rarest IS NOT NULL;
  IF NOT is_whole THEN
    beginnings := ARRAY(SELECT json_array_elements_text(terms[1]));
    SELECT found.ids INTO rarest FROM ids_with_term(tenant, resources, beginnings, most_compared, owners, expansions) AS found;
  END IF;
  EXECUTE format('SELECT ARRAY(SELECT id FROM (
      SELECT found.id, %s AS words FROM %I AS found WHERE found.tenant_id = $1 AND found.id = ANY ($2) OFFSET 0) AS described
    WHERE true %s LIMIT $3)', described, table_name, conditions) INTO ids USING tenant, rarest, CASE WHEN is_whole THEN most ELSE most / 2 END;
  IF is_whole OR cardinality(rarest) < most_compared OR cardinality(ids) >= most / 4 THEN
    RETURN ids;
  END IF;
  -- If too few of them match, intersect the objects of each word.
  rarest := NULL;
  FOR place IN 1 .. cardinality(terms) LOOP
    beginnings := ARRAY(SELECT json_array_elements_text(terms[place]));
    SELECT found.ids INTO ids FROM ids_with_term(tenant, resources, beginnings, most_intersected, owners, expansions) AS found;
    rarest := CASE WHEN rarest IS NULL THEN ids ELSE ARRAY(SELECT unnest(rarest) INTERSECT SELECT unnest(ids)) END;
  END LOOP;
  RETURN rarest[1:most];
END $$;

REVOKE ALL ON FUNCTION code_word, phone_word, detail_words, resembling_words, ids_with_words, ids_with_term, search FROM PUBLIC;
GRANT EXECUTE ON FUNCTION code_word, phone_word, detail_words, resembling_words, ids_with_words, ids_with_term, search TO stamm_service;

CREATE TABLE missing_words (
  tenant_id uuid NOT NULL,
  resource  text NOT NULL,
  after_id  uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  PRIMARY KEY (tenant_id, resource)
);
COMMENT ON TABLE missing_words IS 'Objects that were stored before their words were: upkeep writes these in small parts.';
COMMENT ON COLUMN missing_words.resource IS 'The table of the objects.';
COMMENT ON COLUMN missing_words.after_id IS 'Objects with greater ids are still without words.';
SELECT isolate_tenants('missing_words');
INSERT INTO missing_words (tenant_id, resource)
SELECT tenant_id, resource FROM tenant,
  unnest(ARRAY['customer', 'site', 'contact_person', 'contract', 'product', 'container', 'plant', 'employee']) AS resource;

-- Asked by each process every few seconds: tenants with words to write.
CREATE FUNCTION tenants_with_missing_words() RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT tenant_id FROM (SELECT tenant_id FROM missing_words LIMIT 1000) AS waiting
$$;
REVOKE ALL ON FUNCTION tenants_with_missing_words FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_with_missing_words TO stamm_service;
