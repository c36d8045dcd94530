-- One row for each ended generation: its charge and its row in the log. A generation's id begins with its time, so that ranges of ids
-- are ranges of time, and the primary key, which makes a charge happen once, can be the key of the partitions.

-- In the order in which a settlement of the version before takes them, so that neither waits for the other. In short waits, since all
-- settlements queue behind a lock that waits: a backup or a verification may hold the tables for minutes.
DO $$
BEGIN
  SET LOCAL lock_timeout = '900ms';
  FOR attempt IN 1..120 LOOP
    BEGIN
      LOCK TABLE charges, ledger_entries, request_log IN ACCESS EXCLUSIVE MODE;
      SET LOCAL lock_timeout = 0;
      RETURN;
    EXCEPTION WHEN lock_not_available THEN
      PERFORM pg_sleep(2);
    END;
  END LOOP;
  RAISE EXCEPTION 'The tables of charges are in use by a long transaction, such as a backup: start again after it' USING ERRCODE = '55P03';
END $$;

CREATE TABLE generations (
  generation_id text COLLATE "C" PRIMARY KEY,
  -- The sequence of the ledger entry that holds this charge. NULL: charged nothing, with an unknown end or by a version before this table.
  entry bigint,
  reserved_nano bigint NOT NULL CHECK (reserved_nano >= 0),
  cost_nano bigint NOT NULL CHECK (cost_nano >= 0),
  -- The part of the true cost above the charge, which the service bears. NULL: charged before version 0011 of the schema.
  excess_nano bigint CHECK (excess_nano >= 0),
  -- By the counters' clock.
  admitted_at timestamptz NOT NULL,
  prompt_tokens integer NOT NULL,
  cached_tokens integer NOT NULL,
  completion_tokens integer NOT NULL,
  -- NULL: the answer had no text.
  first_token_ms integer,
  duration_ms integer NOT NULL,
  status smallint NOT NULL,
  -- Charged after its hold had been given up as unknown or expired.
  late boolean NOT NULL,
  streamed boolean NOT NULL,
  usage_estimated boolean NOT NULL,
  cost_pico numeric NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('settled', 'unknown', 'expired')),
  request_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  code text,
  -- When it was booked. NULL: with its entry.
  booked_at timestamptz,
  -- The month whose totals have the charge, such as 2026-11. NULL: that of the admission, in UTC.
  month char(7),
  -- Parts of the prompt and of the completion. NULL: none.
  cache_write_tokens integer,
  reasoning_tokens integer,
  -- For what comes next, and NULL until then: the endpoint if it is not chat, the calls of providers, the workspace's own provider key,
  -- the cost that such a call would have had, and the price tier that applied.
  endpoint text,
  attempts jsonb,
  own_key_id text COLLATE "C",
  list_cost_nano bigint,
  tier_above_tokens integer,
  CHECK (entry IS NOT NULL OR cost_nano = 0)
) PARTITION BY RANGE (generation_id);

-- A row as metering sends it. A type of its own, so that a column may be added while older processes write.
CREATE TYPE booked_generation AS (
  generation text, entry bigint, reserved bigint, cost bigint, excess bigint, admitted_ms bigint, prompt_tokens integer,
  cached_tokens integer, completion_tokens integer, first_token_ms integer, duration_ms integer, status smallint, late boolean,
  streamed boolean, usage_estimated boolean, cost_pico numeric, outcome text, request text, workspace text, key text, model text,
  provider text, code text, month text, cache_write_tokens integer, reasoning_tokens integer, endpoint text, attempts jsonb, own_key text,
  list_cost bigint, tier_above_tokens integer
);

-- Four bytes of a hash instead of thirty of an id: a third of the bytes of both indexes. Readers name the id as well.
-- One index serves a workspace's log and that of one of its models: a page of the workspace is the newest of each model.
CREATE INDEX generations_by_workspace ON generations (hashtext(workspace_id), hashtext(model), generation_id);
CREATE INDEX generations_by_key ON generations (hashtext(key_id), generation_id);

-- What happened does not change. Only a row without a charge may be deleted, when its true end becomes known.
CREATE FUNCTION refuse_charge_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' OR OLD.outcome = 'settled' AND TG_OP = 'DELETE' THEN
    RAISE EXCEPTION 'Charges are final: % refused', TG_OP;
  ELSIF TG_OP = 'DELETE' THEN
    RETURN OLD;
  END IF;
  IF (OLD.generation_id, OLD.entry, OLD.reserved_nano, OLD.cost_nano, OLD.excess_nano, OLD.cost_pico, OLD.outcome, OLD.late,
      OLD.workspace_id, OLD.key_id, OLD.admitted_at, OLD.month)
    IS DISTINCT FROM (NEW.generation_id, NEW.entry, NEW.reserved_nano, NEW.cost_nano, NEW.excess_nano, NEW.cost_pico, NEW.outcome,
      NEW.late, NEW.workspace_id, NEW.key_id, NEW.admitted_at, NEW.month)
  THEN
    RAISE EXCEPTION 'Charges are final: % refused', TG_OP;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER charges_are_final BEFORE UPDATE OR DELETE ON generations FOR EACH ROW EXECUTE FUNCTION refuse_charge_change();
CREATE TRIGGER charges_are_kept BEFORE TRUNCATE ON generations FOR EACH STATEMENT EXECUTE FUNCTION refuse_charge_change();

-- An entry of charges holds all charges of one transaction and workspace. NULL: a credit, or a charge entry from before, of one charge.
ALTER TABLE ledger_entries ADD COLUMN charges integer;
-- Older entries have NULL, which needs no proof: to look at all of them would hold the lock for as long.
ALTER TABLE ledger_entries ADD CONSTRAINT ledger_entries_charges_check CHECK (charges > 0) NOT VALID;
-- Charges name their entry, so an entry of charges has no reference.
ALTER TABLE ledger_entries ALTER COLUMN reference DROP NOT NULL;

-- What retention keeps of the rows that it deletes.
CREATE TABLE generation_days (
  workspace_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  -- Of the admission, in UTC; the first of the month whose totals have the charge where that is another month.
  day date NOT NULL,
  generations bigint NOT NULL,
  -- Those that an entry of the ledger counts.
  charges bigint NOT NULL,
  failed bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  cost_nano bigint NOT NULL,
  excess_nano bigint NOT NULL,
  PRIMARY KEY (workspace_id, key_id, model, day)
);
-- Months whose rows were deleted: a charge that comes for them cannot be told from one that was booked.
CREATE TABLE retained_months (
  month char(7) PRIMARY KEY,
  generations bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);
-- Entries up to this one may have charges whose rows were deleted.
CREATE TABLE retained_entries (
  workspace_id text COLLATE "C" PRIMARY KEY,
  sequence bigint NOT NULL,
  -- What the deleted rows charged late or above their reservation, which explains a balance below zero.
  outside_nano bigint NOT NULL
);

-- The least id of a generation that began at this time, by the digits of src/kernel/ids.ts.
CREATE FUNCTION first_generation_id(at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'gen-' || string_agg(
    substr('234567abcdefghijklmnopqrstuvwxyz', ((floor(extract(epoch FROM at) * 1000)::bigint >> (5 * digit)) & 31)::integer + 1, 1),
    '' ORDER BY digit DESC)
  FROM generate_series(0, 8) AS digit
$$;

-- When a generation began, by its id.
CREATE FUNCTION generation_time(id text) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
  SELECT to_timestamp(sum((strpos('234567abcdefghijklmnopqrstuvwxyz', substr(id, 13 - digit, 1)) - 1) * (32::numeric ^ digit)) / 1000)
  FROM generate_series(0, 8) AS digit
$$;

-- Makes the partition of a month such as 2026-11 unless it is there. The lock lets readers and writers of other months go on.
CREATE FUNCTION make_generations_month(month text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  name text := 'generations_' || replace(month, '-', '_');
  first timestamptz := (month || '-01T00:00:00Z')::timestamptz;
BEGIN
  IF to_regclass(name) IS NOT NULL THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(hashtext('generations partitions'));
  -- A query sees what another has made meanwhile; to_regclass may answer from its cache.
  IF EXISTS (SELECT FROM pg_class WHERE relname = name AND relkind = 'r') THEN RETURN; END IF;
  IF EXISTS (SELECT FROM retained_months WHERE retained_months.month = make_generations_month.month) THEN
    RAISE EXCEPTION 'The log of % was deleted by retention, so a charge of that month may have been booked', month USING ERRCODE = '22023';
  END IF;
  EXECUTE format('CREATE TABLE %I (LIKE generations INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)', name);
  EXECUTE format('ALTER TABLE generations ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name,
    first_generation_id(first), first_generation_id(((first AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC'));
  -- A partition inherits only triggers of rows.
  EXECUTE format('CREATE TRIGGER charges_are_kept BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_charge_change()', name);
END $$;
SELECT make_generations_month(to_char(month, 'YYYY-MM'))
FROM (VALUES (now() AT TIME ZONE 'UTC'), (date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month')) AS made (month);

-- How these generations ended; absent: they have not. A plan for any ids does not tell from a list in which months to search: the bounds do.
CREATE FUNCTION outcomes_of(ids text[]) RETURNS TABLE (generation text, outcome text) LANGUAGE sql STABLE AS $$
  SELECT generation_id, outcome FROM generations WHERE generation_id = ANY (ids)
    AND generation_id >= (SELECT min(id COLLATE "C") FROM unnest(ids) AS id)
    AND generation_id <= (SELECT max(id COLLATE "C") FROM unnest(ids) AS id)
$$;

-- Where the move of older rows is; no row: there is nothing to move.
CREATE TABLE generations_move (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- All older generations have not been moved yet; NULL: none has.
  moved_to text COLLATE "C",
  moved bigint NOT NULL DEFAULT 0,
  -- NULL: not counted yet.
  total bigint,
  -- NULL: the move goes on.
  moved_at timestamptz
);

-- A new database has nothing to move. In any other one the old tables stay until the move has ended and a person says so, and what
-- a fleet of the version before writes into them is copied in the same transaction.
CREATE FUNCTION copy_charges() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  month text;
  replaced text[];
BEGIN
  FOR month IN SELECT DISTINCT to_char(generation_time(generation_id) AT TIME ZONE 'UTC', 'YYYY-MM') FROM written LOOP
    PERFORM make_generations_month(month);
  END LOOP;
  -- A process of this version may have booked an unknown end, which the older version does not see.
  WITH given_up AS (
    DELETE FROM generations USING charges
    WHERE charges.generation_id = ANY (SELECT generation_id FROM written) AND charges.outcome = 'settled'
      AND generations.generation_id = charges.generation_id AND generations.outcome <> 'settled'
    RETURNING generations.generation_id
  )
  SELECT coalesce(array_agg(generation_id), '{}') INTO replaced FROM given_up;
  -- A second end of a generation that is settled already fails by the primary key, and with it all that the older version does.
  -- The heads move after the entries are written, so that the entries of this transaction are those behind the head. The limit is above
  -- any transaction: with it these are read by their key, and not found by reading the whole ledger.
  WITH entry AS MATERIALIZED (
    SELECT entered.* FROM (SELECT DISTINCT workspace_id FROM written) AS named JOIN credit_accounts AS account USING (workspace_id)
    CROSS JOIN LATERAL (
      SELECT workspace_id, sequence, reference FROM ledger_entries
      WHERE ledger_entries.workspace_id = account.workspace_id AND ledger_entries.sequence > account.sequence
      ORDER BY ledger_entries.sequence LIMIT 20000
    ) AS entered
  )
  INSERT INTO generations (generation_id, entry, reserved_nano, cost_nano, excess_nano, admitted_at, prompt_tokens, cached_tokens,
    completion_tokens, first_token_ms, duration_ms, status, late, streamed, usage_estimated, cost_pico, outcome, request_id, workspace_id,
    key_id, model, provider, code, booked_at, month)
  SELECT generation_id, entry.sequence, charge.reserved_nano, charge.cost_nano, charge.excess_nano, log.at, least(prompt_tokens, 2147483647),
    least(cached_tokens, 2147483647), least(completion_tokens, 2147483647), first_token_ms, duration_ms, status,
    late OR generation_id = ANY (replaced), streamed, usage_estimated, cost_pico, outcome, request_id, log.workspace_id, log.key_id, model, provider, code,
    CASE WHEN entry.sequence IS NULL THEN charge.at END, nullif(charge.month, to_char(log.at AT TIME ZONE 'UTC', 'YYYY-MM'))
  FROM written AS log
  JOIN charges AS charge USING (generation_id)
  LEFT JOIN entry ON entry.workspace_id = log.workspace_id AND entry.reference = generation_id
  WHERE outcome = 'settled' OR NOT EXISTS (SELECT FROM generations AS booked WHERE booked.generation_id = log.generation_id);
  RETURN NULL;
END $$;
CREATE FUNCTION copy_deletions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A charge of this version stays, and the row that is to replace it fails by the primary key.
  DELETE FROM generations USING deleted
  WHERE generations.generation_id = deleted.generation_id AND generations.outcome <> 'settled';
  RETURN NULL;
END $$;

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM workspaces) THEN
    DROP TABLE charges, request_log;
    DROP FUNCTION copy_charges, copy_deletions;
    RETURN;
  END IF;
  CREATE TRIGGER copy_charges AFTER INSERT ON request_log REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION copy_charges();
  CREATE TRIGGER copy_deletions AFTER DELETE ON charges REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION copy_deletions();
  ALTER FUNCTION outcomes_of(text[]) RENAME TO outcomes_of_moved;
  CREATE FUNCTION outcomes_of(ids text[]) RETURNS TABLE (generation text, outcome text) LANGUAGE sql STABLE AS $body$
    SELECT generation, outcome FROM outcomes_of_moved(ids)
    UNION ALL
    SELECT generation_id, outcome FROM charges WHERE generation_id = ANY (ids)
      AND NOT EXISTS (SELECT FROM generations WHERE generations.generation_id = charges.generation_id)
  $body$;
  INSERT INTO generations_move DEFAULT VALUES;
END $$;
