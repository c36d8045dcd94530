-- Totals of generations: sums of usage, budgets, and monthly statements.

-- Usage by quarters of an hour, derived from generations in the order of their ids. All generations with smaller ids than closed_before
-- are summed in usage_sums, and readers add the others from generations itself. What is written or removed below closing_before goes to
-- usage_late in the same transaction, so that the sums are exact in every snapshot.
CREATE TABLE usage_state ( -- No row: nothing has been summed yet.
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  closed_before text COLLATE "C" NOT NULL DEFAULT '',
  closing_before text COLLATE "C" NOT NULL,
  -- A quarter of an hour. Earlier ones are summed in all spans. NULL: none.
  summed_before integer,
  CHECK (closed_before <= closing_before)
);

-- A combination that has its own sums. Its number keeps the rows of sums narrow.
CREATE TABLE usage_series (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL,
  -- The caller, as in generations.
  key_id text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  endpoint text COLLATE "C" NOT NULL,
  own_key boolean NOT NULL,
  UNIQUE (workspace_id, key_id, model, provider, endpoint, own_key)
);

-- A workspace has many pairs of a key and a model, and the usual questions are about one of the two: each kind and each span covers all
-- usage, so a year of a busy workspace takes a few thousand rows.
CREATE TABLE usage_sums (
  -- The workspace's number.
  workspace integer NOT NULL,
  -- 0: by everything. 1: by key, in series whose model, provider and endpoint are `*`. 2: by model, provider and endpoint, in series whose
  -- key is `*`. 3: the total, in the series whose names are all `*`.
  kind smallint NOT NULL,
  -- In quarters of an hour: 1, and before summed_before also 4, 24, 96 and 768.
  span smallint NOT NULL,
  -- The time of the admission: quarters of an hour since 1970 in UTC, a multiple of the span.
  start integer NOT NULL,
  series_id integer NOT NULL,
  requests integer NOT NULL,
  errors integer NOT NULL,
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  charge_nano bigint NOT NULL,
  -- The list price of calls with own keys.
  list_nano bigint NOT NULL,
  -- The key includes the sums: in the index those of one workspace and kind are adjacent, in the table they lie in order of writing.
  PRIMARY KEY (workspace, kind, span, start, series_id)
    INCLUDE (requests, errors, prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, charge_nano, list_nano)
);

-- How many requests ended with a code, and how many had their first token within a range of times. In the kinds and series of usage_sums
-- except kind 0, and in quarters and six hours alone: a key with few requests has nearly a row for each of them in each kind and span.
CREATE TABLE usage_counts (
  workspace integer NOT NULL,
  kind smallint NOT NULL CHECK (kind > 0),
  -- In quarters of an hour: 1, and before summed_before also 24.
  span smallint NOT NULL CHECK (span IN (1, 24)),
  start integer NOT NULL,
  series_id integer NOT NULL,
  -- The code of an error, or the number of a range of times of the first token.
  name text COLLATE "C" NOT NULL,
  requests integer NOT NULL,
  PRIMARY KEY (workspace, kind, span, start, series_id, name) INCLUDE (requests)
);

-- The number of the range that has this time of a first token, in milliseconds. Eight ranges double the time, so a time that is taken from
-- the middle of its range is within five percent of the true one. The reader in src/gateway/usage has the same ranges.
CREATE FUNCTION first_token_range(ms integer) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $1 > 0 THEN floor(8 * ln($1::float8) / ln(2::float8) + 1e-9)::integer::text WHEN $1 <= 0 THEN '0' END
$$;

-- Sums whole numbers as whole numbers. PostgreSQL's sum(bigint) makes a decimal for every group, which takes longer than the addition when
-- groups are small, as they are here. Like every addition of bigint, it fails rather than overflow.
CREATE AGGREGATE whole_sum(bigint) (SFUNC = int8pl, STYPE = bigint, INITCOND = '0', COMBINEFUNC = int8pl, PARALLEL = SAFE);

-- The usage of one generation, in the form in which it is summed.
CREATE VIEW generation_usage AS
SELECT generation_id, workspace_id, key_id, model, provider,
  coalesce(endpoint, 'chat') COLLATE "C" AS endpoint, own_key_id IS NOT NULL AS own_key,
  floor(date_part('epoch', admitted_at) / 900)::integer AS quarter, 1 AS requests, (status >= 400)::integer AS errors,
  prompt_tokens::bigint AS prompt_tokens, cached_tokens::bigint AS cached_tokens,
  coalesce(cache_write_tokens, 0)::bigint AS cache_write_tokens, completion_tokens::bigint AS completion_tokens,
  cost_nano AS charge_nano, coalesce(list_cost_nano, 0) AS list_nano,
  CASE WHEN status >= 400 THEN coalesce(code, 'unknown') COLLATE "C" END AS error, first_token_range(first_token_ms) AS first_token
FROM generations;

-- Generations that were written below closing_before. A removed one has negative counts and sums.
CREATE TABLE usage_late AS SELECT * FROM generation_usage WITH NO DATA;

-- The shared lock keeps closing_before unchanged until the end of the transaction. It is taken before the bound is read.
CREATE FUNCTION note_late_usage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
  closing text COLLATE "C";
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtext('usage closing'));
  SELECT closing_before INTO closing FROM usage_state;
  -- As in the view.
  INSERT INTO usage_late
  SELECT generation_id, workspace_id, key_id, model, provider, coalesce(endpoint, 'chat'), own_key_id IS NOT NULL,
    floor(date_part('epoch', admitted_at) / 900)::integer, sign, sign * (status >= 400)::integer, sign * prompt_tokens::bigint,
    sign * cached_tokens::bigint, sign * coalesce(cache_write_tokens, 0)::bigint, sign * completion_tokens::bigint, sign * cost_nano,
    sign * coalesce(list_cost_nano, 0), CASE WHEN status >= 400 THEN coalesce(code, 'unknown') END, first_token_range(first_token_ms)
  FROM changed WHERE generation_id < closing;
  RETURN NULL;
END $$;
CREATE TRIGGER note_late_usage AFTER INSERT ON generations REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_late_usage();
CREATE TRIGGER note_removed_usage AFTER DELETE ON generations REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_late_usage();

-- Budgets: what a key or a workspace may spend in a UTC day, and a member in a UTC month. A row has what was spent in a period, from the
-- first request that the budget bounds in it. It grows under the lock of the workspace's account, so each total belongs to one sequence of
-- the ledger.
CREATE TABLE budget_totals (
  workspace_id text COLLATE "C" NOT NULL,
  -- day:<key>, day: for the whole workspace, month:<caller id of a member> for all their keys and the Workbench.
  name text COLLATE "C" NOT NULL,
  -- The beginning of the period, in milliseconds since 1970 in UTC.
  since bigint NOT NULL,
  spent_nano bigint NOT NULL,
  PRIMARY KEY (workspace_id, name, since)
) WITH (fillfactor = 50);

-- The callers whose charges a budget counts. NULL: all of the workspace.
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

-- The spend in a budget's period, from the charges themselves.
CREATE FUNCTION budget_spent(workspace text, name text, since bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT charged_between($1, budget_callers($1, $2), ($3 / 900000)::integer, CASE
    WHEN $2 LIKE 'day:%' THEN ($3 / 900000)::integer + 96
    ELSE floor(extract(epoch FROM ((to_timestamp($3 / 1000) AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC') / 900)::integer
  END)
$$;

-- For views: the total that settlement keeps, or the sum if no request has needed one yet.
CREATE FUNCTION budget_total(workspace text, name text, since bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    (SELECT spent_nano FROM budget_totals AS total WHERE total.workspace_id = $1 AND total.name = $2 AND total.since = $3),
    budget_spent($1, $2, $3))
$$;

-- Statements of usage: one for each month of a workspace, a slice of its ledger chain that begins where the last one ends.
CREATE TABLE usage_statements (
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  -- The month in UTC, such as 2026-11.
  number char(7) COLLATE "C" NOT NULL CHECK (number ~ '^\d{4}-\d{2}$'),
  from_sequence bigint NOT NULL CHECK (from_sequence > 0),
  -- One less than from_sequence: there are no entries.
  to_sequence bigint NOT NULL CHECK (to_sequence >= from_sequence - 1),
  opening_nano bigint NOT NULL,
  credits_nano bigint NOT NULL,
  refunds_nano bigint NOT NULL,
  charges_nano bigint NOT NULL,
  closing_nano bigint NOT NULL,
  -- JSON by RFC 8785: the whole statement except its hash. A text, since its bytes are hashed.
  document text NOT NULL,
  -- SHA-256 of the document in UTF-8, in hexadecimal digits.
  sha256 text NOT NULL,
  closed_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, number)
);

CREATE FUNCTION refuse_statement_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'Usage statements are final: % refused', TG_OP;
END $$;
CREATE TRIGGER statements_are_final BEFORE UPDATE OR DELETE OR TRUNCATE ON usage_statements
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement_change();

-- Who sells and who buys, as statements name them. A closed statement keeps the details of the day on which it closed.
CREATE TABLE billing_parties (
  -- The buyer. Empty: the operator of the service, who sells.
  workspace_id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  -- Several lines.
  address text NOT NULL,
  tax_number text NOT NULL,
  -- The tax that charges include, by the seller's statement, in hundredths of a percent. NULL: none is shown.
  tax_name text NOT NULL DEFAULT '',
  tax_basis_points integer CHECK (tax_basis_points > 0 AND tax_basis_points < 10000)
);
