-- Names in files that the office assigned by hand. The next import offers the same object. (Decision 66.)

CREATE TABLE remembered_name (
  tenant_id     uuid NOT NULL,
  resource      text NOT NULL,
  name          text NOT NULL,
  object_id     uuid NOT NULL,
  actor         text NOT NULL,
  remembered_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, resource, name)
);
COMMENT ON TABLE remembered_name IS 'What a name in a file means, where no object has it or several do.';
COMMENT ON COLUMN remembered_name.name IS 'Folded as names in files are compared.';
COMMENT ON COLUMN remembered_name.object_id IS 'Of an object that may be deleted since: then nothing is offered.';
SELECT isolate_tenants('remembered_name');
