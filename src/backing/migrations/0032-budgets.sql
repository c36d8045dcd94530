-- Budgets: what a key or a workspace may spend in a UTC day, and a member in a UTC month. NULL: no budget.
ALTER TABLE api_keys ADD COLUMN daily_spend_limit_nano bigint CHECK (daily_spend_limit_nano > 0);
ALTER TABLE workspaces ADD COLUMN daily_spend_limit_nano bigint CHECK (daily_spend_limit_nano > 0);
ALTER TABLE members ADD COLUMN monthly_spend_limit_nano bigint CHECK (monthly_spend_limit_nano > 0);

-- Whether the workspace has rows in budget_totals, to which settlement adds. Read with the head, so that it costs the others nothing.
ALTER TABLE credit_accounts ADD COLUMN has_budgets boolean NOT NULL DEFAULT false;

-- What was spent in a period, from the first request that a budget bounds in it. Added to under the lock of the workspace's account, so
-- that a total belongs to one sequence of its ledger.
CREATE TABLE budget_totals (
  workspace_id text COLLATE "C" NOT NULL,
  -- day:<key>, day: for the whole workspace, month:<caller id of a member> for all keys of theirs and the Workbench.
  name text COLLATE "C" NOT NULL,
  -- The beginning of the period, in milliseconds since 1970 in UTC.
  since bigint NOT NULL,
  spent_nano bigint NOT NULL,
  PRIMARY KEY (workspace_id, name, since)
) WITH (fillfactor = 50);

-- The callers whose charges a budget counts; NULL: all of the workspace.
CREATE FUNCTION budget_callers(workspace text, name text) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN $2 = 'day:' THEN NULL
    WHEN $2 LIKE 'day:%' THEN ARRAY[substr($2, 5)]
    ELSE ARRAY(
      SELECT substr($2, 7) UNION ALL
      SELECT key.id FROM members JOIN api_keys AS key ON key.workspace_id = members.workspace_id AND key.owner_email = members.email
      WHERE members.workspace_id = $1 AND members.caller_id = substr($2, 7))
  END
$$;

-- What these callers were charged for requests that were admitted in some quarters of an hour, as readers of usage sum it.
CREATE FUNCTION charged_between(workspace text, callers text[], first_quarter integer, end_quarter integer) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT (
    coalesce((
      SELECT sum(charge_nano) FROM usage_sums
      WHERE usage_sums.workspace = (SELECT number FROM workspaces WHERE id = $1) AND kind = CASE WHEN $2 IS NULL THEN 2 ELSE 1 END
        AND span = 1 AND start >= $3 AND start < $4
        AND ($2 IS NULL OR series_id = ANY (ARRAY(
          SELECT id FROM usage_series WHERE workspace_id = $1 AND key_id = ANY ($2) AND model = '*')))), 0)
    + coalesce((
      SELECT sum(charge_nano) FROM generation_usage
      WHERE generation_id >= closed AND generation_id < 'gen-~' AND workspace_id = $1 AND ($2 IS NULL OR key_id = ANY ($2))
        AND quarter >= $3 AND quarter < $4), 0)
    + coalesce((
      SELECT sum(charge_nano) FROM usage_late
      WHERE generation_id < closed AND workspace_id = $1 AND ($2 IS NULL OR key_id = ANY ($2))
        AND quarter >= $3 AND quarter < $4), 0)
  )::bigint
  FROM (SELECT coalesce((SELECT closed_before FROM usage_state), '') AS closed) AS state
$$;

-- What a budget's period has spent, from the charges themselves.
CREATE FUNCTION budget_spent(workspace text, name text, since bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT charged_between($1, budget_callers($1, $2), ($3 / 900000)::integer, CASE
    WHEN $2 LIKE 'day:%' THEN ($3 / 900000)::integer + 96
    ELSE floor(extract(epoch FROM ((to_timestamp($3 / 1000) AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC') / 900)::integer
  END)
$$;

-- For views: the total that settlement keeps, or the sum where no request has needed one yet.
CREATE FUNCTION budget_total(workspace text, name text, since bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    (SELECT spent_nano FROM budget_totals AS total WHERE total.workspace_id = $1 AND total.name = $2 AND total.since = $3),
    budget_spent($1, $2, $3))
$$;
