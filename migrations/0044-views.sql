-- Views: filters, order and columns of a table in the office, under a name.

CREATE TABLE saved_view (
  tenant_id  uuid NOT NULL,
  id         uuid NOT NULL,
  person_id  uuid,
  resource   text NOT NULL,
  name       text NOT NULL,
  search     text NOT NULL,
  columns    text[] NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, person_id) REFERENCES person ON DELETE CASCADE
);
COMMENT ON TABLE saved_view IS 'What a person, or everybody of a business, likes to see of a table.';
COMMENT ON COLUMN saved_view.person_id IS 'NULL: the view is shared, and stays when a colleague leaves.';
COMMENT ON COLUMN saved_view.search IS 'The query string of the page.';
CREATE INDEX saved_view_by_person ON saved_view (tenant_id, person_id);

SELECT isolate_tenants('saved_view');
