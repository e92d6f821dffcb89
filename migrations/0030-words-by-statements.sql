-- The statements that write rows write their words too (server/engine/sql/search-words.ts): triggers with transition tables
-- do not work on distributed tables, and cost more.
-- contract: no released node relies on the triggers
-- Oldest node: 0030

DO $$
DECLARE
  kept record;
BEGIN
  FOR kept IN SELECT tgname, tgrelid::regclass AS target FROM pg_trigger
    WHERE tgname IN ('add_words', 'change_words', 'remove_words') AND NOT tgisinternal
  LOOP
    EXECUTE format('DROP TRIGGER %I ON %s', kept.tgname, kept.target);
  END LOOP;
END $$;
DROP FUNCTION add_words, change_words, remove_words;

COMMENT ON TABLE search_word IS 'The words by which each object is found, written by the statements that write the object.';

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
END $$;
DROP FUNCTION prepare_search;
