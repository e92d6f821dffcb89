-- Holds for all rows since 0020: the columns were empty.
ALTER TABLE site
  VALIDATE CONSTRAINT site_service_record_recipient_external_id_check,
  VALIDATE CONSTRAINT site_assigned_employee_external_id_check,
  VALIDATE CONSTRAINT site_contact_person_external_id_check,
  VALIDATE CONSTRAINT site_contract_external_id_check;
ALTER TABLE container
  VALIDATE CONSTRAINT container_product_external_id_check;
ALTER TABLE plant
  VALIDATE CONSTRAINT plant_product_external_id_check,
  VALIDATE CONSTRAINT plant_container_external_id_check;
