-- A database may go back in time: a standby is promoted without the last commits, or an older backup is restored. Counters outside of it
-- are ahead then, and its next entries take numbers that other entries had. The epoch tells the two apart: it rises each time that a
-- workspace is first used on another server, and with it each version that counters compare.
ALTER TABLE credit_accounts
  ADD COLUMN epoch bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0),
  -- ledger_server() when the epoch began; 0: no counters were loaded yet.
  ADD COLUMN server bigint NOT NULL DEFAULT 0,
  -- The ledger is behind what it had before: counters are not loaded until the settlements that still exist are booked again.
  ADD COLUMN is_rebuilding boolean NOT NULL DEFAULT false;
CREATE INDEX credit_accounts_rebuilding ON credit_accounts (workspace_id) WHERE is_rebuilding;

-- Which server this is: another number after each start, promotion and restoration. A data folder, its copy and its standby are started at
-- different times, and the databases of one server have different numbers.
CREATE FUNCTION ledger_server() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint + (SELECT oid FROM pg_database WHERE datname = current_database())::bigint
$$;

-- The server on which metering last booked again what the stream of settlements still had; no row: this database is new.
CREATE TABLE ledger_replays (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  server bigint NOT NULL
);
