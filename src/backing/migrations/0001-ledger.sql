-- Workspaces, people, keys, the ledger of record and the request log.
-- Amounts are nano-USD (1e-9 USD) as bigint. Ids sort by byte (COLLATE "C"): they begin with their time.

CREATE TABLE workspaces (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL UNIQUE,
  enabled boolean NOT NULL DEFAULT true,
  spend_limit_nano bigint CHECK (spend_limit_nano > 0),
  fallbacks boolean NOT NULL DEFAULT true,
  zero_data_retention boolean NOT NULL DEFAULT false,
  prompt_storage boolean NOT NULL DEFAULT false,
  early_access text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now()
);

-- A person, in however many workspaces.
CREATE TABLE accounts (
  email text PRIMARY KEY,
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended', 'locked', 'deleted')),
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE members (
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  email text NOT NULL REFERENCES accounts,
  role text NOT NULL CHECK (role IN ('member', 'auditor', 'admin', 'super_admin')),
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, email)
);

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  owner_email text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('inference', 'tools')),
  name text NOT NULL,
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  start text NOT NULL,
  last_four text,
  monthly_spend_limit_nano bigint CHECK (monthly_spend_limit_nano > 0),
  rate_limit_rpm integer CHECK (rate_limit_rpm BETWEEN 1 AND 10000),
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  FOREIGN KEY (workspace_id, owner_email) REFERENCES members (workspace_id, email)
);
CREATE INDEX api_keys_by_workspace ON api_keys (workspace_id, id);
CREATE INDEX api_keys_by_owner ON api_keys (owner_email);

-- The head of each workspace's ledger chain. Kept apart from workspaces: settings and settlement never wait for each other.
CREATE TABLE credit_accounts (
  workspace_id text COLLATE "C" PRIMARY KEY REFERENCES workspaces,
  balance_nano bigint NOT NULL DEFAULT 0,
  sequence bigint NOT NULL DEFAULT 0
);

-- One gapless chain per workspace: balance_after[n] = balance_after[n-1] + amount[n].
CREATE TABLE ledger_entries (
  workspace_id text COLLATE "C" NOT NULL REFERENCES credit_accounts,
  sequence bigint NOT NULL CHECK (sequence > 0),
  kind text NOT NULL CHECK (kind IN ('credit', 'charge')),
  amount_nano bigint NOT NULL,
  balance_after_nano bigint NOT NULL,
  reference text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, sequence)
);
-- The same reference adds credit once; charges are unique by the key of `charges`.
CREATE UNIQUE INDEX ledger_credit_reference ON ledger_entries (workspace_id, reference) WHERE kind = 'credit';

-- REVOKE does not bind a superuser, a trigger does.
CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The ledger is append-only: % refused', TG_OP;
END $$;
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

-- How each generation ended, exactly once. Not partitioned: its primary key is what makes a charge happen once.
CREATE TABLE charges (
  generation_id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  month char(7) NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('settled', 'unknown', 'expired')),
  reserved_nano bigint NOT NULL CHECK (reserved_nano >= 0),
  cost_nano bigint NOT NULL CHECK (cost_nano >= 0),
  cost_pico numeric NOT NULL,
  -- Charged after its hold had been given up as unknown or expired.
  late boolean NOT NULL DEFAULT false,
  at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE key_months (
  key_id text COLLATE "C" NOT NULL,
  month char(7) NOT NULL,
  spent_nano bigint NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (key_id, month)
);

CREATE TABLE workspace_months (
  workspace_id text COLLATE "C" NOT NULL,
  month char(7) NOT NULL,
  spent_nano bigint NOT NULL,
  PRIMARY KEY (workspace_id, month)
);

-- One row for each generation. Partitions are made ahead by the metering worker; the default one loses nothing meanwhile.
CREATE TABLE request_log (
  generation_id text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  request_id text NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  model text NOT NULL,
  provider text NOT NULL,
  status smallint NOT NULL,
  code text,
  streamed boolean NOT NULL,
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  reserved_nano bigint NOT NULL,
  cost_nano bigint NOT NULL,
  usage_estimated boolean NOT NULL,
  first_token_ms integer,
  duration_ms integer NOT NULL,
  PRIMARY KEY (generation_id, at)
) PARTITION BY RANGE (at);
CREATE TABLE request_log_default PARTITION OF request_log DEFAULT;
CREATE INDEX request_log_by_workspace ON request_log (workspace_id, generation_id);
CREATE INDEX request_log_by_key ON request_log (key_id, generation_id);

-- Events that could not be understood, whole, for a person to read.
CREATE TABLE dead_letters (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stream text NOT NULL,
  message_id text NOT NULL,
  payload bytea NOT NULL,
  reason text NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE audit_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  event text NOT NULL,
  actor text NOT NULL,
  role text NOT NULL,
  carried_by text,
  workspace_id text COLLATE "C",
  target text,
  changes jsonb NOT NULL
);
CREATE INDEX audit_events_by_workspace ON audit_events (workspace_id, id);

-- Successful and failed end-to-end test calls; `entry` identifies the catalog entry that was tested.
CREATE TABLE launch_checks (
  model_id text NOT NULL,
  provider_id text NOT NULL,
  entry text NOT NULL,
  passed boolean NOT NULL,
  code text,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (model_id, provider_id)
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
