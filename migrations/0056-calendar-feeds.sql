-- Calendar feeds: the visits of an employee or at a site, under a secret address.

CREATE TABLE calendar_feed (
  tenant_id  uuid NOT NULL REFERENCES tenant,
  resource   text NOT NULL CHECK (resource IN ('employee', 'site')),
  subject_id uuid NOT NULL,
  token_hash bytea NOT NULL,
  language   text NOT NULL CHECK (language IN ('de', 'en')),
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  PRIMARY KEY (tenant_id, resource, subject_id),
  UNIQUE (tenant_id, token_hash)
);
COMMENT ON TABLE calendar_feed IS 'At most one for each employee and site. A deleted subject keeps its row and answers nothing.';
COMMENT ON COLUMN calendar_feed.token_hash IS 'SHA-256 of the secret part of the address, which is shown once.';
COMMENT ON COLUMN calendar_feed.language IS 'Of the texts: calendar programs do not say which one they want.';

SELECT isolate_tenants('calendar_feed');
