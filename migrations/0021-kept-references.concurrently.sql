-- Rows that wait for an external id.
CREATE INDEX CONCURRENTLY site_waiting_for_service_record_recipient ON site (tenant_id, service_record_recipient_external_id, id) WHERE service_record_recipient_external_id IS NOT NULL;
CREATE INDEX CONCURRENTLY site_waiting_for_assigned_employee ON site (tenant_id, assigned_employee_external_id, id) WHERE assigned_employee_external_id IS NOT NULL;
CREATE INDEX CONCURRENTLY site_waiting_for_contact_person ON site (tenant_id, contact_person_external_id, id) WHERE contact_person_external_id IS NOT NULL;
CREATE INDEX CONCURRENTLY site_waiting_for_contract ON site (tenant_id, contract_external_id, id) WHERE contract_external_id IS NOT NULL;
CREATE INDEX CONCURRENTLY container_waiting_for_product ON container (tenant_id, product_external_id, id) WHERE product_external_id IS NOT NULL;
CREATE INDEX CONCURRENTLY plant_waiting_for_product ON plant (tenant_id, product_external_id, id) WHERE product_external_id IS NOT NULL;
CREATE INDEX CONCURRENTLY plant_waiting_for_container ON plant (tenant_id, container_external_id, id) WHERE container_external_id IS NOT NULL;
