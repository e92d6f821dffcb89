-- The errors of a recorded call have the name that they have in the API.
-- contract: nothing was released before this migration, so no older node runs.
-- Oldest node: 0062
ALTER TABLE recorded_request RENAME COLUMN faults TO errors;
