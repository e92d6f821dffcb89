-- A search finds all objects that match, or says that there are more. (Decision 83.)

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
REVOKE ALL ON FUNCTION matching_ids FROM PUBLIC;
GRANT EXECUTE ON FUNCTION matching_ids TO stamm_service;

-- Nodes of the previous version ask this one.
CREATE OR REPLACE FUNCTION search(tenant uuid, table_name text, asked text[], most integer, is_tolerant boolean, described text,
    owners text[], expansions text[]) RETURNS uuid[]
  LANGUAGE sql STABLE AS $$
  SELECT ids[1:most] FROM matching_ids(tenant, table_name, asked, most, is_tolerant, described, owners, expansions)
$$;
