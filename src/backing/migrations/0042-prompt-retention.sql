-- How many days after its request a stored prompt is deleted. NULL: it stays until somebody deletes it.
ALTER TABLE workspaces ADD COLUMN prompt_retention_days integer CHECK (prompt_retention_days > 0);
-- Metering asks once a minute which workspaces have one.
CREATE INDEX workspaces_with_prompt_retention ON workspaces (id) WHERE prompt_retention_days IS NOT NULL;
