-- The search knows the letters of other languages: "Aydin" finds "Aydın", "Lodz" finds "Łódź". (Decision 79.)

-- Letters without their accents, composed or not, and ligatures as their letters. core/letters.ts is its twin; a test
-- compares them. Independent of the locale. Not STRICT: PostgreSQL inlines it into fold() only without.
CREATE FUNCTION plain_letters(name text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN octet_length(name) = length(name) THEN name ELSE
    replace(replace(translate(regexp_replace(normalize(name, NFKD), '[\u0300-\u036f]', '', 'g'),
      'ÆæŒœØøÐðĐđŁłıĦħŦŧŊŋƏəςẞÞ', 'aaooooddddllihhttnnaaσßþ'), 'ß', 'ss'), 'þ', 'th') END;

CREATE OR REPLACE FUNCTION fold(name text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN replace(replace(replace(lower(plain_letters(name)), 'ae', 'a'), 'oe', 'o'), 'ue', 'u');

-- As fold() was before, for the words that are stored in its spelling.
CREATE FUNCTION former_fold(name text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN replace(replace(replace(
    translate(replace(lower(name), 'ß', 'ss'), 'äöüáàâéèêëíìîïóòôúùûçñåø', 'aouaaaeeeeiiiiooouuucnao'),
    'ae', 'a'), 'oe', 'o'), 'ue', 'u');

-- detail_words() in that spelling, of words and codes. Telephone numbers have no letters.
CREATE FUNCTION former_detail_words(details text) RETURNS SETOF text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 7
  AS $$
    SELECT words_of(former_fold(split_part(details, E'\x01', 1)))
    UNION ALL
    SELECT '=' || left(replace(space_words(former_fold(item)), ' ', ''), 60)
    FROM string_to_table(details, E'\x01') AS item WHERE left(item, 1) = '='
  $$;

REVOKE ALL ON FUNCTION plain_letters, former_fold, former_detail_words FROM PUBLIC;
GRANT EXECUTE ON FUNCTION plain_letters, former_fold, former_detail_words TO stamm_service;

CREATE TABLE former_spelling (
  tenant_id uuid NOT NULL,
  resource  text NOT NULL,
  after_id  uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  PRIMARY KEY (tenant_id, resource)
);
COMMENT ON TABLE former_spelling IS 'Rows whose folded texts were stored before fold() knew more letters: upkeep folds them anew in small parts.';
COMMENT ON COLUMN former_spelling.resource IS 'The table of the rows, with "deleted:" before it for those in the bin.';
COMMENT ON COLUMN former_spelling.after_id IS 'Rows with greater ids may still have the former spelling.';
SELECT isolate_tenants('former_spelling');
INSERT INTO former_spelling (tenant_id, resource)
SELECT tenant_id, place FROM tenant,
  unnest(ARRAY['customer', 'site', 'contact_person', 'contract', 'product', 'container', 'plant', 'employee']) AS resource,
  unnest(ARRAY[resource, 'deleted:' || resource]) AS place
UNION ALL SELECT tenant_id, 'remembered_name' FROM tenant;

-- Asked by each process every few seconds: tenants with rows to fold anew.
CREATE FUNCTION tenants_with_former_spelling() RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT tenant_id FROM (SELECT tenant_id FROM former_spelling LIMIT 1000) AS waiting
$$;
REVOKE ALL ON FUNCTION tenants_with_former_spelling FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_with_former_spelling TO stamm_service;
