-- The system that a writer names in the header Stamm-Origin: a reader of the feed can leave out its own writes.

ALTER TABLE journal ADD COLUMN origin text;
COMMENT ON COLUMN journal.origin IS 'Sent by the writer in Stamm-Origin; NULL without that header.';
