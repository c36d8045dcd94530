-- The ledger of record, the log of generations, and the tables that serve requests.

-- The head of each workspace's ledger chain. Kept apart from workspaces, so that settings and settlement never wait for each other.
--
-- A database may go back in time: a standby is promoted without the last commits, or an older backup is restored. Counters outside it are
-- then ahead, and its next entries take numbers that other entries had. The epoch tells the two apart: it rises each time a workspace is
-- first used on another server, and with it every version that counters compare.
CREATE TABLE credit_accounts (
  workspace_id text COLLATE "C" PRIMARY KEY REFERENCES workspaces,
  balance_nano bigint NOT NULL DEFAULT 0,
  sequence bigint NOT NULL DEFAULT 0,
  -- Whether the workspace has rows in budget_totals, to which settlement adds. Read with the head, so it costs workspaces without budgets
  -- nothing.
  has_budgets boolean NOT NULL DEFAULT false,
  epoch bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0),
  -- ledger_server() when the epoch began. 0: no counters were loaded yet.
  server bigint NOT NULL DEFAULT 0,
  -- The ledger has lost entries: counters are not loaded until the settlements that still exist are booked again.
  is_rebuilding boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50); -- Leaves room in the pages of rows that every settlement changes, so that a new version needs no new index entry.
CREATE INDEX credit_accounts_rebuilding ON credit_accounts (workspace_id) WHERE is_rebuilding;

-- One gapless chain per workspace: balance_after[n] = balance_after[n-1] + amount[n]. Appending locks the account, so the account exists,
-- and a foreign key would only look it up again for each entry. `ledger verify` also checks.
CREATE TABLE ledger_entries (
  workspace_id text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL CHECK (sequence > 0),
  kind text NOT NULL CHECK (kind IN ('credit', 'charge', 'refund', 'refund_reversed', 'dispute', 'dispute_reinstated')),
  amount_nano bigint NOT NULL,
  balance_after_nano bigint NOT NULL,
  -- The reason for the entry. NULL: an entry of charges, which name their entry themselves.
  reference text COLLATE "C",
  at timestamptz NOT NULL DEFAULT now(),
  -- How many charges it holds: all of one transaction and workspace. NULL: it is not an entry of charges.
  charges integer CHECK (charges > 0),
  PRIMARY KEY (workspace_id, sequence),
  CHECK ((kind = 'charge') = (charges IS NOT NULL)),
  CHECK ((kind = 'charge') = (reference IS NULL))
);
-- A reference adds credit once, and takes it back or restores it once for each kind. Charges are unique by the key of generations.
CREATE UNIQUE INDEX ledger_credit_reference ON ledger_entries (workspace_id, reference) WHERE kind = 'credit';
CREATE UNIQUE INDEX ledger_taken_back_reference ON ledger_entries (workspace_id, kind, reference)
  WHERE kind IN ('refund', 'refund_reversed', 'dispute', 'dispute_reinstated');

-- REVOKE does not bind a superuser; a trigger does.
CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The ledger is append-only: % refused', TG_OP;
END $$;
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

-- Identifies this server: a different number after each start, promotion and restoration. A data folder, its copy and its standby are
-- started at different times, and the databases of one server have different numbers.
CREATE FUNCTION ledger_server() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint + (SELECT oid FROM pg_database WHERE datname = current_database())::bigint
$$;

-- The server on which metering last booked the remaining stream of settlements again. No row: this database is new.
CREATE TABLE ledger_replays (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  server bigint NOT NULL
);

-- What was spent in a month such as 2026-11, in UTC: by a caller, with the number of changes, and by a whole workspace.
CREATE TABLE key_months (
  key_id text COLLATE "C" NOT NULL,
  month char(7) NOT NULL,
  spent_nano bigint NOT NULL,
  version bigint NOT NULL,
  -- Here and not with the key, since a charge changes this row anyway and no edit of the key has to wait for it.
  last_used_at timestamptz,
  PRIMARY KEY (key_id, month)
) WITH (fillfactor = 50);
CREATE TABLE workspace_months (
  workspace_id text COLLATE "C" NOT NULL,
  month char(7) NOT NULL,
  spent_nano bigint NOT NULL,
  PRIMARY KEY (workspace_id, month)
) WITH (fillfactor = 50);

-- How each generation ended, exactly once: its charge, and its row in the log. A generation's id begins with its time, so that ranges of ids
-- are ranges of time, and the primary key, which makes a charge happen once, can be the key of the partitions.
CREATE TABLE generations (
  generation_id text COLLATE "C" PRIMARY KEY,
  -- The sequence of the ledger entry that holds this charge. NULL: its end is unknown or its provider bills it, so no entry counts it.
  entry bigint,
  reserved_nano bigint NOT NULL CHECK (reserved_nano >= 0),
  cost_nano bigint NOT NULL CHECK (cost_nano >= 0),
  -- The part of the true cost above the charge, which the service bears: a charge never exceeds its reservation or takes a balance below
  -- zero.
  excess_nano bigint NOT NULL CHECK (excess_nano >= 0),
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
  -- The caller: a key, or a member in the Workbench.
  key_id text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  -- The error's code. NULL: none.
  code text,
  -- When it was booked. NULL: with its entry.
  booked_at timestamptz,
  -- The month whose totals have the charge, such as 2026-11. NULL: that of the admission, in UTC.
  month char(7),
  -- Parts of the prompt and of the completion. NULL: none.
  cache_write_tokens integer,
  reasoning_tokens integer,
  -- NULL: chat.
  endpoint text,
  -- The calls of providers. NULL: they are not recorded.
  attempts jsonb,
  -- The workspace's own key that was used, and what the call would have cost without it. NULL: none was.
  own_key_id text COLLATE "C",
  list_cost_nano bigint,
  -- The price tier that applied, by the tokens above which it does. NULL: the model's base prices.
  tier_above_tokens integer,
  -- What recognises a repetition of the request, and a digest of its body. NULL: it had no idempotency key, or left nothing.
  claim text COLLATE "C",
  claim_body text COLLATE "C",
  -- The generation whose answer was sent again. NULL: a provider was asked.
  replayed_from text COLLATE "C",
  -- What the answer said of the error. NULL: nothing.
  message text,
  CHECK (entry IS NOT NULL OR cost_nano = 0)
) PARTITION BY RANGE (generation_id);
-- Four bytes of a hash instead of thirty of an id: a third of the bytes of both indexes. Queries compare the id as well. One index serves a
-- workspace's log and that of one of its models: a page of the workspace is the newest of each model.
CREATE INDEX generations_by_workspace ON generations (hashtext(workspace_id), hashtext(model), generation_id);
CREATE INDEX generations_by_key ON generations (hashtext(key_id), generation_id);
CREATE INDEX generations_by_claim ON generations (claim) WHERE claim IS NOT NULL;

-- A row as metering sends it. A separate type, so that a column may be added while older processes write.
CREATE TYPE booked_generation AS (
  generation text, entry bigint, reserved bigint, cost bigint, excess bigint, admitted_ms bigint, prompt_tokens integer,
  cached_tokens integer, completion_tokens integer, first_token_ms integer, duration_ms integer, status smallint, late boolean,
  streamed boolean, usage_estimated boolean, cost_pico numeric, outcome text, request text, workspace text, key text, model text,
  provider text, code text, month text, cache_write_tokens integer, reasoning_tokens integer, endpoint text, attempts jsonb, own_key text,
  list_cost bigint, tier_above_tokens integer, claim text, claim_body text, replayed_from text, message text
);

-- History does not change. Only a row without a charge may be deleted, when its true end becomes known.
CREATE FUNCTION refuse_charge_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' OR OLD.outcome = 'settled' AND TG_OP = 'DELETE' THEN
    RAISE EXCEPTION 'Charges are final: % refused', TG_OP;
  ELSIF TG_OP = 'DELETE' THEN
    RETURN OLD;
  END IF;
  IF (OLD.generation_id, OLD.entry, OLD.reserved_nano, OLD.cost_nano, OLD.excess_nano, OLD.cost_pico, OLD.outcome, OLD.late,
      OLD.workspace_id, OLD.key_id, OLD.admitted_at, OLD.month, OLD.claim, OLD.claim_body)
    IS DISTINCT FROM (NEW.generation_id, NEW.entry, NEW.reserved_nano, NEW.cost_nano, NEW.excess_nano, NEW.cost_pico, NEW.outcome,
      NEW.late, NEW.workspace_id, NEW.key_id, NEW.admitted_at, NEW.month, NEW.claim, NEW.claim_body)
  THEN
    RAISE EXCEPTION 'Charges are final: % refused', TG_OP;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER charges_are_final BEFORE UPDATE OR DELETE ON generations FOR EACH ROW EXECUTE FUNCTION refuse_charge_change();
CREATE TRIGGER charges_are_kept BEFORE TRUNCATE ON generations FOR EACH STATEMENT EXECUTE FUNCTION refuse_charge_change();

-- How these generations ended. Absent: they have not. A generic plan cannot tell from a list which months to search; the bounds tell it.
CREATE FUNCTION outcomes_of(ids text[]) RETURNS TABLE (generation text, outcome text) LANGUAGE sql STABLE AS $$
  SELECT generation_id, outcome FROM generations WHERE generation_id = ANY (ids)
    AND generation_id >= (SELECT min(id COLLATE "C") FROM unnest(ids) AS id)
    AND generation_id <= (SELECT max(id COLLATE "C") FROM unnest(ids) AS id)
$$;

-- Always true, and expensive only in the planner's eyes, so it prefers an index that leaves few rows to check. Otherwise it assumes equally
-- many rows of each model and searches the index of ids, where those of a rare model are hundreds of thousands of rows apart.
CREATE FUNCTION is_checked_late(generation_id text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000 AS $$
BEGIN
  RETURN true;
END $$;

-- Months whose rows retention deleted: a late charge for them cannot be told from one that was booked.
CREATE TABLE retained_months (
  month char(7) PRIMARY KEY,
  generations bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);
-- Entries up to this one may have charges whose rows were deleted.
CREATE TABLE retained_entries (
  workspace_id text COLLATE "C" PRIMARY KEY,
  sequence bigint NOT NULL
);
-- The sums that are kept of deleted rows.
CREATE TABLE generation_days (
  workspace_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  -- In UTC: the day of the admission or, if another month's totals have the charge, the first day of that month.
  day date NOT NULL,
  generations bigint NOT NULL,
  -- Rows that an entry of the ledger counts.
  charges bigint NOT NULL,
  failed bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  cost_nano bigint NOT NULL,
  excess_nano bigint NOT NULL,
  PRIMARY KEY (workspace_id, key_id, model, day)
);

-- The least id of a generation that began at this time, by the digits of src/kernel/ids.ts.
CREATE FUNCTION first_generation_id(at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'gen-' || string_agg(
    substr('234567abcdefghijklmnopqrstuvwxyz', ((floor(extract(epoch FROM at) * 1000)::bigint >> (5 * digit)) & 31)::integer + 1, 1),
    '' ORDER BY digit DESC)
  FROM generate_series(0, 8) AS digit
$$;

-- Makes the partition of a month such as 2026-11 unless it exists. The lock does not block readers and writers of other months.
CREATE FUNCTION make_generations_month(month text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  name text := 'generations_' || replace(month, '-', '_');
  first timestamptz := (month || '-01T00:00:00Z')::timestamptz;
BEGIN
  IF to_regclass(name) IS NOT NULL THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(hashtext('generations partitions'));
  -- A query sees a partition just made by another session; to_regclass may answer from its cache.
  IF EXISTS (SELECT FROM pg_class WHERE relname = name AND relkind = 'r') THEN RETURN; END IF;
  IF EXISTS (SELECT FROM retained_months WHERE retained_months.month = make_generations_month.month) THEN
    RAISE EXCEPTION 'The log of % was deleted by retention, so a charge of that month may have been booked', month USING ERRCODE = '22023';
  END IF;
  EXECUTE format('CREATE TABLE %I (LIKE generations INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)', name);
  EXECUTE format('ALTER TABLE generations ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name,
    first_generation_id(first), first_generation_id(((first AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC'));
  -- A partition inherits only row triggers.
  EXECUTE format('CREATE TRIGGER charges_are_kept BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_charge_change()', name);
END $$;
SELECT make_generations_month(to_char(month, 'YYYY-MM'))
FROM (VALUES (now() AT TIME ZONE 'UTC'), (date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month')) AS made (month);

-- Prompts and answers of workspaces that switched their storage on.
CREATE TABLE stored_prompts (
  generation_id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  -- When the request was admitted, as in the request log.
  at timestamptz NOT NULL,
  -- Sealed JSON: the request's messages, its other fields, and the answer's message. NULL: no other field was set, nothing was answered.
  messages bytea NOT NULL,
  parameters bytea,
  answer bytea,
  -- The answer was longer than the kept part.
  answer_cut boolean NOT NULL
);
CREATE INDEX stored_prompts_by_workspace ON stored_prompts (workspace_id, at);
-- Sealed bytes cannot be compressed. PostgreSQL 15 has no such option in CREATE TABLE.
ALTER TABLE stored_prompts ALTER COLUMN messages SET STORAGE EXTERNAL, ALTER COLUMN parameters SET STORAGE EXTERNAL,
  ALTER COLUMN answer SET STORAGE EXTERNAL;

-- Answers to requests with an idempotency key, of workspaces that keep them for a day: sealed JSON.
CREATE TABLE kept_answers (
  generation_id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  -- When the request was admitted, as in the request log.
  at timestamptz NOT NULL,
  answer bytea NOT NULL
);
CREATE INDEX kept_answers_by_time ON kept_answers (at);
ALTER TABLE kept_answers ALTER COLUMN answer SET STORAGE EXTERNAL;

-- Calls that were refused, so that the log lacks them: how many, for 31 days.
CREATE TABLE refused_calls (
  -- Empty: no key is known.
  workspace_id text COLLATE "C" NOT NULL,
  -- In minutes: 1, and 1440 for the sum of a day in UTC.
  span smallint NOT NULL,
  -- Minutes since 1970 in UTC, a multiple of the span.
  start integer NOT NULL,
  -- The caller, as in generations. Empty also for the callers beyond the first of a minute.
  key_id text COLLATE "C" NOT NULL,
  code text COLLATE "C" NOT NULL,
  calls bigint NOT NULL,
  PRIMARY KEY (workspace_id, span, start, key_id, code)
) WITH (fillfactor = 50);
CREATE INDEX refused_calls_by_time ON refused_calls (start);

-- The newest of them of each workspace, with what the caller was told. Nothing in it is a text of the request.
CREATE TABLE refused_requests (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  endpoint text NOT NULL,
  status smallint NOT NULL,
  code text NOT NULL,
  -- NULL: it was not known by then, or is not in the catalog.
  model text,
  message text NOT NULL,
  -- The field at fault. NULL: none.
  param text,
  -- NULL: the answer named no wait.
  retry_after_ms bigint
);
CREATE INDEX refused_requests_by_workspace ON refused_requests (workspace_id, id);

-- Workspaces' own keys for providers.
CREATE TABLE own_keys (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  -- A provider of the catalog, which may drop it.
  provider_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  -- NULL: the key is too short to show a part of it.
  last_four text,
  sealed bytea NOT NULL,
  -- refused: the provider refused it in its last use. It is still tried.
  state text NOT NULL CHECK (state IN ('active', 'refused', 'disabled')),
  -- Whether the provider keeps nothing under the account of this key.
  zero_data_retention boolean NOT NULL,
  -- Digests of the catalog's entries whose launch check passed with this key. They count only for this workspace.
  checks text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  tested_at timestamptz NOT NULL,
  last_used_at timestamptz,
  -- When the admins last got a mail about its refusal.
  mailed_at timestamptz
);
CREATE UNIQUE INDEX own_keys_in_use ON own_keys (workspace_id, provider_id) WHERE state <> 'disabled';

-- What the operator has decided about a provider. A row stands over the catalog's files and over the environment.
CREATE TABLE service_providers (
  -- A provider of the catalog, which may drop it.
  provider_id text COLLATE "C" PRIMARY KEY,
  -- The service's key, sealed under SECRETS_KEY. NULL: the key of the environment counts.
  sealed bytea,
  -- NULL: there is no key, or it is too short to show a part of it.
  last_four text,
  -- NULL: what the catalog says counts.
  terms_checked boolean,
  subprocessor_listed boolean,
  disabled boolean NOT NULL,
  -- When the current key was last tested, and how that ended. NULL: never.
  tested_at timestamptz,
  tested text,
  changed_at timestamptz NOT NULL
);

-- Successful and failed end-to-end test calls. `entry` identifies the catalog entry that was tested.
CREATE TABLE launch_checks (
  model_id text NOT NULL,
  provider_id text NOT NULL,
  entry text NOT NULL,
  passed boolean NOT NULL,
  -- The error's code. NULL: it passed.
  code text,
  at timestamptz NOT NULL DEFAULT now(),
  -- A result stays valid until its requested repetition has run.
  asked_at timestamptz,
  PRIMARY KEY (model_id, provider_id)
);

-- How each route served, by the hour: measurements of real traffic, kept for a day, without money.
CREATE TABLE route_hours (
  entry text NOT NULL,
  hour timestamptz NOT NULL,
  answered bigint NOT NULL,
  failed bigint NOT NULL,
  -- First tokens that were timed, and the sum of their times.
  timed bigint NOT NULL,
  first_token_ms bigint NOT NULL,
  PRIMARY KEY (entry, hour)
);

-- Events that could not be read, kept whole for a person.
CREATE TABLE dead_letters (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stream text NOT NULL,
  message_id text NOT NULL,
  payload bytea NOT NULL,
  reason text NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);

-- The embedded bus's stored events.
CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stream text NOT NULL,
  message_id text NOT NULL,
  payload bytea NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  UNIQUE (stream, message_id)
);
