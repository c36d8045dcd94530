-- A launch check that is asked for again counts as it stands until it has run.
ALTER TABLE launch_checks ADD COLUMN asked_at timestamptz;
