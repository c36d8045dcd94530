-- Usage by quarters of an hour, derived from generations in the order of their ids. All generations with smaller ids than closed_before
-- are summed in usage_sums, and readers add the others from generations itself. What is written or removed below closing_before goes to
-- usage_late in the same transaction, so that the sums are exact in every snapshot.

ALTER TABLE workspaces ADD COLUMN number integer GENERATED ALWAYS AS IDENTITY;

-- What is summed by itself. Its number keeps the rows of sums narrow.
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

CREATE TABLE usage_sums (
  -- The workspace's number.
  workspace integer NOT NULL,
  -- In quarters of an hour: 1; 4, 24 and 96 for what lies before summed_before. Every span has the whole sum.
  span smallint NOT NULL,
  -- Of the admission: quarters of an hour since 1970 in UTC, a multiple of the span.
  start integer NOT NULL,
  series_id integer NOT NULL,
  requests integer NOT NULL,
  errors integer NOT NULL,
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  charge_nano bigint NOT NULL,
  -- What calls with own keys would have cost.
  list_nano bigint NOT NULL,
  PRIMARY KEY (workspace, span, start, series_id)
);

-- No row: nothing was summed yet.
CREATE TABLE usage_state (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  closed_before text COLLATE "C" NOT NULL DEFAULT '',
  closing_before text COLLATE "C" NOT NULL,
  -- A quarter. Earlier ones are summed in all spans. NULL: none.
  summed_before integer,
  CHECK (closed_before <= closing_before)
);

-- The usage of one generation, in the form in which it is summed.
CREATE VIEW generation_usage AS
SELECT generation_id, workspace_id, key_id, model, provider,
  coalesce(endpoint, 'chat') COLLATE "C" AS endpoint, own_key_id IS NOT NULL AS own_key,
  floor(date_part('epoch', admitted_at) / 900)::integer AS quarter, 1 AS requests, (status >= 400)::integer AS errors,
  prompt_tokens::bigint AS prompt_tokens, cached_tokens::bigint AS cached_tokens,
  coalesce(cache_write_tokens, 0)::bigint AS cache_write_tokens, completion_tokens::bigint AS completion_tokens,
  cost_nano AS charge_nano, coalesce(list_cost_nano, 0) AS list_nano
FROM generations;

-- Generations that were written below closing_before. A removed one has counts and sums below zero.
CREATE TABLE usage_late AS SELECT * FROM generation_usage WITH NO DATA;

-- The shared lock keeps closing_before where it is to the end of the transaction. It is taken before the bound is read.
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
    sign * coalesce(list_cost_nano, 0)
  FROM changed WHERE generation_id < closing;
  RETURN NULL;
END $$;
CREATE TRIGGER note_late_usage AFTER INSERT ON generations REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_late_usage();
CREATE TRIGGER note_removed_usage AFTER DELETE ON generations REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_late_usage();

-- Of months that retention has deleted before, only days are known: they count as used at midnight in UTC.
INSERT INTO usage_series (workspace_id, key_id, model, provider, endpoint, own_key)
SELECT DISTINCT workspace_id, key_id, model, 'unknown', 'chat', false FROM generation_days;
INSERT INTO usage_sums
SELECT coalesce(number, 0), 1, (day - '1970-01-01'::date) * 96, series.id, generations, failed, prompt_tokens, cached_tokens, 0,
  completion_tokens, cost_nano, 0
FROM generation_days AS kept JOIN usage_series AS series USING (workspace_id, key_id, model)
LEFT JOIN workspaces ON workspaces.id = workspace_id;
