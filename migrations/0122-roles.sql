-- The role Büro, and the employee that an account stands for. (Decision 122.)
ALTER TABLE person
  ADD COLUMN employee_id uuid,
  DROP CONSTRAINT person_role_check,
  ADD CONSTRAINT person_role_check CHECK (role IN ('VERWALTUNG', 'BUERO', 'PFLEGE'));
COMMENT ON TABLE person IS 'Somebody of the office. VERWALTUNG may do everything, BUERO keeps the data, PFLEGE reads it.';
COMMENT ON COLUMN person.employee_id IS 'Who the person is among the employees. May name one that is gone; nobody then.';

ALTER TABLE invitation
  ADD COLUMN employee_id uuid,
  DROP CONSTRAINT invitation_role_check,
  ADD CONSTRAINT invitation_role_check CHECK (role IN ('VERWALTUNG', 'BUERO', 'PFLEGE'));
COMMENT ON COLUMN invitation.employee_id IS 'As in person.';

-- Until now, the same address was the same person.
UPDATE person SET employee_id = same.id
FROM (
  SELECT tenant_id, lower(email) AS email, (array_agg(id ORDER BY id))[1] AS id FROM employee
  WHERE email IS NOT NULL GROUP BY tenant_id, lower(email)
) AS same
WHERE same.tenant_id = person.tenant_id AND same.email = lower(person.email);
