-- Lists that are sorted by the number of a customer, a product, an employee, or by the code on a label. What has none sorts last.
CREATE INDEX CONCURRENTLY customer_by_customer_number ON customer (tenant_id, COALESCE(customer_number, U&'\+10FFFF') COLLATE "C", id);
CREATE INDEX CONCURRENTLY product_by_article_number ON product (tenant_id, COALESCE(article_number, U&'\+10FFFF') COLLATE "C", id);
CREATE INDEX CONCURRENTLY employee_by_employee_number ON employee (tenant_id, COALESCE(employee_number, U&'\+10FFFF') COLLATE "C", id);
CREATE INDEX CONCURRENTLY plant_by_label_code ON plant (tenant_id, COALESCE(label_code, U&'\+10FFFF') COLLATE "C", id);
CREATE INDEX CONCURRENTLY container_by_label_code ON container (tenant_id, COALESCE(label_code, U&'\+10FFFF') COLLATE "C", id);
