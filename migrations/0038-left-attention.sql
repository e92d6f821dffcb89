-- Entries of the attention list that the office leaves as they are, and who corrected a refused call.

CREATE TABLE left_attention (
  tenant_id uuid NOT NULL,
  resource  text NOT NULL,
  object_id uuid NOT NULL,
  field     text NOT NULL,
  code      text NOT NULL,
  finding   text NOT NULL,
  reason    text,
  person_id uuid NOT NULL,
  left_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, resource, object_id, field, code)
);
COMMENT ON TABLE left_attention IS 'Entries of the attention list that somebody has looked at and left as they are.';
COMMENT ON COLUMN left_attention.finding IS 'What was found then. An entry is shown again when it finds something else.';
SELECT isolate_tenants('left_attention');

CREATE TABLE corrected_request (
  tenant_id    uuid NOT NULL,
  request_id   uuid NOT NULL,
  resource     text NOT NULL,
  object_id    uuid NOT NULL,
  person_id    uuid NOT NULL,
  corrected_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, request_id)
);
COMMENT ON TABLE corrected_request IS 'Refused calls that somebody in the office corrected, and what was created instead.';
SELECT isolate_tenants('corrected_request');
