-- Where the tours of a business begin.

ALTER TABLE tenant ADD COLUMN start_address json;
COMMENT ON COLUMN tenant.start_address IS 'Street, postcode, town and position from which day sheets order their stops.';
