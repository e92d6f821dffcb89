-- An endpoint can leave out actions, and the writes of one system. (Decision 44.)
ALTER TABLE webhook ADD COLUMN actions text[], ADD COLUMN exclude_origin text;
COMMENT ON COLUMN webhook.actions IS 'CREATED, CHANGED or DELETED; NULL for all.';
COMMENT ON COLUMN webhook.exclude_origin IS 'Changes with this origin are not sent.';
