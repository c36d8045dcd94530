-- Alerts: what a workspace wants to be told of, what it was told, and the webhooks that get it.

CREATE TABLE alert_rules (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  -- A kind of src/accounts/alerts/kinds.ts.
  kind text NOT NULL,
  -- Of a limit; empty for kinds without one.
  percents smallint[] NOT NULL,
  -- The balance below which it tells; NULL for other kinds.
  amount_nano bigint,
  mail boolean NOT NULL,
  webhooks boolean NOT NULL,
  -- Of a balance: whether it tells when the balance falls below the amount, and how often it was armed.
  armed boolean NOT NULL DEFAULT true,
  armings integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX alert_rules_of_workspace ON alert_rules (workspace_id, kind, coalesce(amount_nano, 0));

-- How far each workspace with rules was compared with them.
CREATE TABLE alert_watches (
  workspace_id text COLLATE "C" PRIMARY KEY REFERENCES workspaces,
  -- The last entry of the ledger at that time.
  sequence bigint NOT NULL,
  looked_at timestamptz NOT NULL
);

CREATE TABLE alerts (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  kind text NOT NULL,
  -- The rule that made it, which may be deleted; empty: none.
  rule_id text COLLATE "C" NOT NULL,
  -- The id of what it is about; empty: the workspace itself.
  subject text COLLATE "C" NOT NULL,
  -- Within which the same is not told again: a month or a day, how often a rule was armed, or the event itself.
  period text COLLATE "C" NOT NULL,
  percent smallint NOT NULL,
  text text NOT NULL,
  -- What webhooks get, as it is sent.
  body text NOT NULL,
  -- How many people were mailed.
  mails integer NOT NULL,
  UNIQUE (workspace_id, kind, rule_id, subject, period, percent)
);
CREATE INDEX alerts_of_workspace ON alerts (workspace_id, id);

CREATE TABLE alert_webhooks (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  url text NOT NULL,
  -- The secret that signs, under the workspace's data key.
  sealed bytea NOT NULL,
  -- The one before, which signs as well until then.
  former bytea,
  former_until timestamptz,
  created_at timestamptz NOT NULL,
  CHECK ((former IS NULL) = (former_until IS NULL))
);
CREATE INDEX alert_webhooks_of_workspace ON alert_webhooks (workspace_id, id);

CREATE TABLE alert_deliveries (
  alert_id text COLLATE "C" NOT NULL REFERENCES alerts ON DELETE CASCADE,
  webhook_id text COLLATE "C" NOT NULL REFERENCES alert_webhooks ON DELETE CASCADE,
  state text NOT NULL CHECK (state IN ('waiting', 'delivered', 'given_up')),
  attempts integer NOT NULL,
  -- An attempt moves it on before it begins, so that no other process makes the same attempt.
  due_at timestamptz NOT NULL,
  -- After which it is given up.
  until timestamptz NOT NULL,
  tried_at timestamptz,
  -- Of the last answer.
  status smallint,
  -- Why there was no answer, or why it was not tried.
  failure text,
  PRIMARY KEY (alert_id, webhook_id)
);
CREATE INDEX alert_deliveries_of_webhook ON alert_deliveries (webhook_id);
CREATE INDEX alert_deliveries_waiting ON alert_deliveries (webhook_id, due_at) WHERE state = 'waiting';
