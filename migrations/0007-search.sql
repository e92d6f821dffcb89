-- A search costs the same in a business with ten sites and in one with a million. It looks for parts of words with LIKE,
-- planned for the very words that were asked for: for a rare one the planner takes the trigram index, and for one that
-- every other row holds it reads rows until it has enough, which is soon. Only what finds nothing that way is searched
-- for with typing errors, among rows that hold at least a part of each word as it was typed.

-- The pattern that finds a text as it is.
CREATE FUNCTION like_part(part text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN '%' || regexp_replace(part, '([\\%_])', '\\\1', 'g') || '%';

-- The condition for one word: it is part of the text or, if it is too short to have a trigram, begins a word of it.
CREATE FUNCTION word_condition(word text) RETURNS text
  LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN length(word) >= 3 THEN format('found.search_text LIKE %L', like_part(word))
    ELSE format('(found.search_text LIKE %L OR found.search_text LIKE %L)',
      substr(like_part(word), 2), like_part(' ' || word)) END;

-- The condition for one word with typing errors: a third of it, or its end, is as it was typed, and the whole resembles it.
CREATE FUNCTION resembling_condition(word text) RETURNS text
  LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN length(word) < 4 THEN word_condition(word)
    ELSE (SELECT format('(%s)', string_agg(format('found.search_text LIKE %L', like_part(substr(word, start, size))), ' OR '))
      FROM (VALUES (greatest(3, length(word) / 3))) AS part (size),
        LATERAL (SELECT generate_series(1, length(word) - size + 1, size) UNION SELECT length(word) - size + 1) AS starts (start))
      || format(' AND word_similarity(%L, found.search_text) >= 0.5', word) END;

-- The search of one table. It runs with the owner's rights, because row-level security would keep it from the index,
-- and for a tenant of the transaction only.
CREATE FUNCTION prepare_search(target regclass) RETURNS void
  LANGUAGE plpgsql AS $prepare$
BEGIN
  EXECUTE format('CREATE OR REPLACE FUNCTION search_%1$s(tenant uuid, words text[], most integer)
    RETURNS TABLE (id uuid, rank real)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS
    $f$
    DECLARE
      folded text[] := ARRAY(SELECT fold(word) FROM unnest(words) AS word WHERE fold(word) <> '''');
      phrase text := array_to_string(folded, '' '');
      statement text := ''SELECT found.id, word_similarity($2, found.search_text) FROM (
        SELECT found.id, found.search_text FROM %1$s AS found WHERE found.tenant_id = $1 AND %%s LIMIT $3
      ) AS found ORDER BY 2 DESC, 1'';
    BEGIN
      IF tenant <> ALL (current_tenants()) OR phrase = '''' THEN RETURN; END IF;
      RETURN QUERY EXECUTE format(statement, (SELECT string_agg(word_condition(word), '' AND '') FROM unnest(folded) AS word))
        USING tenant, phrase, most;
      IF FOUND THEN RETURN; END IF;
      RETURN QUERY EXECUTE format(statement, (SELECT string_agg(resembling_condition(word), '' AND '') FROM unnest(folded) AS word))
        USING tenant, phrase, most;
    END
    $f$', target);
  EXECUTE format('REVOKE ALL ON FUNCTION search_%s FROM PUBLIC', target);
  EXECUTE format('GRANT EXECUTE ON FUNCTION search_%s TO stamm_service', target);
END $prepare$;

SELECT prepare_search(name) FROM unnest(ARRAY[
  'customer', 'site', 'contact_person', 'contract', 'plant', 'container', 'product', 'employee']::regclass[]) AS name;

-- As in 0003, with the search in a function of its own.
CREATE OR REPLACE FUNCTION prepare_resource(target regclass, sorted_by text, searched text) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %1$s
    ADD COLUMN sort_name text COLLATE "C" GENERATED ALWAYS AS (fold(%2$s)) STORED,
    ADD COLUMN search_text text GENERATED ALWAYS AS (fold(%3$s)) STORED,
    ADD CONSTRAINT %1$s_external_id_unique UNIQUE (tenant_id, external_id)', target, sorted_by, searched);
  EXECUTE format('CREATE INDEX %1$s_by_name ON %1$s (tenant_id, sort_name, id)', target);
  EXECUTE format('CREATE INDEX %1$s_by_update ON %1$s (tenant_id, updated_at, id)', target);
  EXECUTE format('CREATE INDEX %1$s_search ON %1$s USING gin (tenant_id, search_text gin_trgm_ops)', target);
  PERFORM isolate_tenants(target);
  PERFORM prepare_search(target);
END $$;
REVOKE ALL ON FUNCTION like_part, word_condition, resembling_condition, prepare_search FROM PUBLIC;
