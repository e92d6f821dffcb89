-- Security events: who signed in, changed keys or people, exported or erased data.

CREATE TABLE audit_entry (
  tenant_id  uuid NOT NULL,
  id         uuid NOT NULL,
  at         timestamptz NOT NULL DEFAULT now(),
  event      text NOT NULL,
  actor_id   uuid,
  actor      text NOT NULL,
  subject_id uuid,
  subject    text,
  address    text,
  user_agent text,
  request_id uuid,
  details    json,
  PRIMARY KEY (tenant_id, id)
);
COMMENT ON TABLE audit_entry IS 'Security events of a business. Append-only for the service.';
COMMENT ON COLUMN audit_entry.actor_id IS 'Person who acted; NULL for an API key, the command line or a stranger.';
COMMENT ON COLUMN audit_entry.actor IS 'Name of the actor at that time, to read. The id identifies, the name does not.';
COMMENT ON COLUMN audit_entry.subject_id IS 'Person, record or key that the event is about.';

SELECT isolate_tenants('audit_entry');
REVOKE UPDATE, DELETE ON audit_entry FROM stamm_service;
