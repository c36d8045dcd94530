-- Whether the usage in answers has the charge.
ALTER TABLE workspaces ADD COLUMN cost_in_answers boolean NOT NULL DEFAULT false;
