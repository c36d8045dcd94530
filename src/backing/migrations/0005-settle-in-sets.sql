-- Settling writes in sets of many charges: what such a set is sure of is not looked up again for each of its rows.

-- Who appends to a chain holds the lock of its account, hence the account is there. `ledger verify` looks at it, too.
ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_workspace_id_fkey;

-- A generation has one row in the log as it has one charge, and the charge's workspace leads to it.
ALTER TABLE request_log DROP CONSTRAINT request_log_pkey;

-- When a key was last used stands beside what it spent: that row is written anyway, whoever edits the key meanwhile.
ALTER TABLE key_months ADD COLUMN last_used_at timestamptz;
INSERT INTO key_months (key_id, month, spent_nano, version, last_used_at)
SELECT id, to_char(last_used_at AT TIME ZONE 'UTC', 'YYYY-MM'), 0, 0, last_used_at FROM api_keys WHERE last_used_at IS NOT NULL
ON CONFLICT (key_id, month) DO UPDATE SET last_used_at = excluded.last_used_at;
ALTER TABLE api_keys DROP COLUMN last_used_at;

-- Room beside rows that change with every settlement, so that their next version needs no new entry in an index.
ALTER TABLE credit_accounts SET (fillfactor = 50);
ALTER TABLE key_months SET (fillfactor = 50);
ALTER TABLE workspace_months SET (fillfactor = 50);
