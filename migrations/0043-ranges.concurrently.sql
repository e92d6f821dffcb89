-- Lists that are narrowed by a first and a last value, or sorted by it. What has no value sorts last.
CREATE INDEX CONCURRENTLY contract_by_start_date ON contract (tenant_id, start_date, id);
CREATE INDEX CONCURRENTLY contract_by_end_date ON contract (tenant_id, COALESCE(end_date, 'infinity'::date), id);
CREATE INDEX CONCURRENTLY contract_by_net_price ON contract (tenant_id, COALESCE(net_price, 'Infinity'::numeric), id);
CREATE INDEX CONCURRENTLY product_by_net_price ON product (tenant_id, COALESCE(net_price, 'Infinity'::numeric), id);
CREATE INDEX CONCURRENTLY plant_by_planted_on ON plant (tenant_id, COALESCE(planted_on, 'infinity'::date), id);
