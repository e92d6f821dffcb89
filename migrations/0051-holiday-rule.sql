-- The business decides about visits on public holidays.

ALTER TABLE tenant ADD COLUMN holiday_rule text NOT NULL DEFAULT 'MOVE' CHECK (holiday_rule IN ('MOVE', 'SKIP', 'KEEP'));
COMMENT ON COLUMN tenant.holiday_rule IS 'Whether visits on public holidays move, are skipped, or stay.';
