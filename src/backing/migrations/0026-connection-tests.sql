-- The last test of a connection with its present credentials: new credentials take it away.
ALTER TABLE connections
  ADD COLUMN tested_at timestamptz,
  ADD COLUMN test_outcome text COLLATE "C",
  -- The vendor's HTTP status; null: there was no answer.
  ADD COLUMN test_status integer,
  ADD COLUMN test_message text;
