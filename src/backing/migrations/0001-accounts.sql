-- Workspaces, the people in them, how they sign in, their keys, tickets, mails and alerts, and the audit trail of it all.
--
-- Amounts are in nano-USD (1e-9 USD), as bigint. Ids sort by byte (COLLATE "C"), since they begin with the time at which they were made.
-- "Sealed" bytes are encrypted, under the workspace's data key where nothing else is said.

CREATE TABLE workspaces (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL UNIQUE,
  -- Its short form for tables with many rows, such as sums of usage.
  number integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  enabled boolean NOT NULL DEFAULT true,
  -- What it may spend in a month and in a day, in UTC. NULL: no limit.
  spend_limit_nano bigint CHECK (spend_limit_nano > 0),
  daily_spend_limit_nano bigint CHECK (daily_spend_limit_nano > 0),
  fallbacks boolean NOT NULL DEFAULT true,
  -- Whether models that an own key serves may also be served on credit, by other providers.
  own_key_fallback boolean NOT NULL DEFAULT false,
  zero_data_retention boolean NOT NULL DEFAULT false,
  prompt_storage boolean NOT NULL DEFAULT false,
  -- How many days after its request a stored prompt is deleted. NULL: it stays until a person deletes it.
  prompt_retention_days integer CHECK (prompt_retention_days > 0),
  -- Whether the usage in answers has the charge.
  cost_in_answers boolean NOT NULL DEFAULT false,
  -- Answers to requests with an idempotency key are kept for a day, sealed, and sent again.
  idempotent_replay boolean NOT NULL DEFAULT false,
  early_access text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now()
);
-- Metering queries once a minute which workspaces have a retention.
CREATE INDEX workspaces_with_prompt_retention ON workspaces (id) WHERE prompt_retention_days IS NOT NULL;

-- The key that seals the workspace's data, itself sealed by a key of SECRETS_KEY: rotating that key only reseals these rows.
CREATE TABLE data_keys (
  workspace_id text COLLATE "C" PRIMARY KEY REFERENCES workspaces,
  wrapped bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Actions that a workspace may do a limited number of times in an hour, with the times of the last hour.
CREATE TABLE hourly_acts (
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  act text COLLATE "C" NOT NULL,
  times timestamptz[] NOT NULL,
  PRIMARY KEY (workspace_id, act)
);

-- A person, in any number of workspaces.
CREATE TABLE accounts (
  email text PRIMARY KEY,
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended', 'locked', 'deleted')),
  -- An argon2id hash in its own notation. NULL: the person has set no password.
  password_hash text,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- A membership takes effect only after its person has accepted it, and does not reach into other workspaces.
CREATE TABLE members (
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  email text NOT NULL REFERENCES accounts,
  role text NOT NULL CHECK (role IN ('member', 'auditor', 'admin', 'super_admin')),
  active boolean NOT NULL DEFAULT true,
  -- asked: it waits for the person. declined: the person refused. none: the workspace withdrew the request.
  consent text NOT NULL DEFAULT 'given' CHECK (consent IN ('given', 'asked', 'declined', 'none')),
  -- When the workspace last asked, and the admin who did. NULL: it never had to.
  asked_at timestamptz,
  asked_by text,
  -- When the person last used this workspace in the Console, to the minute.
  seen_at timestamptz,
  -- What the person may spend in a UTC month with all keys and in the Workbench. NULL: no limit.
  monthly_spend_limit_nano bigint CHECK (monthly_spend_limit_nano > 0),
  -- The caller of the requests that the person sends from the Workbench. Wherever a key's id denotes the caller (counters, journal,
  -- generations, totals), this id denotes the member. It begins with mbr-, which no key's id does.
  caller_id text COLLATE "C" NOT NULL UNIQUE
    DEFAULT 'mbr-' || translate(left(encode(sha256(uuid_send(gen_random_uuid())), 'hex'), 26), '0189', 'ghij'),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, email),
  CHECK (NOT active OR consent = 'given')
);
-- Gateways name a caller by a SHA-256: that of the key, or that of the caller id.
CREATE UNIQUE INDEX members_by_caller_hash ON members (sha256(caller_id::bytea));

-- Who has hidden the checklist of first steps. An empty email: the holder of the operator token.
CREATE TABLE hidden_checklists (
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  email text NOT NULL,
  PRIMARY KEY (workspace_id, email)
);

-- How a member arranges a list of the Console, saved by a name.
CREATE TABLE saved_views (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  email text NOT NULL REFERENCES accounts,
  list text COLLATE "C" NOT NULL,
  name text NOT NULL,
  -- Filters, order and columns as the query of the list's address.
  query text NOT NULL,
  -- Whether the menu opens the list with it.
  is_default boolean NOT NULL,
  UNIQUE (workspace_id, email, list, name)
);
CREATE UNIQUE INDEX saved_views_default ON saved_views (email, workspace_id, list) WHERE is_default;

CREATE TABLE sessions (
  id text COLLATE "C" PRIMARY KEY,
  -- SHA-256 of the cookie's value.
  token_hash bytea NOT NULL UNIQUE,
  -- NULL: the holder of the operator token.
  email text REFERENCES accounts,
  way text NOT NULL CHECK (way IN ('password', 'link', 'start', 'operator token', 'oidc')),
  -- Whether a second factor was given too, or one proof counted as both; admin rights need it.
  both_factors boolean NOT NULL DEFAULT false,
  -- The browser's name for itself.
  agent text NOT NULL,
  created_at timestamptz NOT NULL,
  -- The last proof of identity. Some actions need a recent one.
  proved_at timestamptz NOT NULL,
  used_at timestamptz NOT NULL
);
CREATE INDEX sessions_of_account ON sessions (email);

-- Links that sign a person in once.
CREATE TABLE sign_in_links (
  token_hash bytea PRIMARY KEY,
  email text NOT NULL REFERENCES accounts,
  purpose text NOT NULL CHECK (purpose IN ('start', 'sign in', 'invitation', 'handed', 'password')),
  -- The workspace that invites: the link ends with its invitation. NULL: the link belongs to no workspace.
  workspace_id text COLLATE "C" REFERENCES workspaces,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_links_of_account ON sign_in_links (email);

-- Attempts to sign in, counted before they are checked. A subject is the digest of an address with a network, or of a network.
CREATE TABLE sign_in_tries (
  subject bytea PRIMARY KEY,
  since timestamptz NOT NULL,
  tries integer NOT NULL
);
CREATE INDEX sign_in_tries_since ON sign_in_tries (since);

-- Codes of an app (TOTP).
CREATE TABLE second_factors (
  email text PRIMARY KEY REFERENCES accounts,
  -- The secret in use, sealed by SECRETS_KEY. NULL: none is confirmed.
  sealed bytea,
  confirmed_at timestamptz,
  -- A new secret until its first code. The one in use stays valid until then.
  pending_sealed bytea,
  pending_at timestamptz,
  -- The time step of the last accepted code: a step is accepted once.
  last_step bigint NOT NULL DEFAULT 0,
  -- Wrong codes since the last accepted one, and those in the current window.
  wrong_in_row integer NOT NULL DEFAULT 0,
  wrong_in_window integer NOT NULL DEFAULT 0,
  window_at timestamptz
);

-- Codes that stand in for a lost app. A used code is deleted.
CREATE TABLE recovery_codes (
  email text NOT NULL REFERENCES second_factors ON DELETE CASCADE,
  -- SHA-256 in hexadecimal.
  hash text COLLATE "C" NOT NULL,
  PRIMARY KEY (email, hash)
);

CREATE TABLE oidc_identities (
  issuer text COLLATE "C" NOT NULL,
  -- The provider's id of the person, which is never reassigned.
  subject text COLLATE "C" NOT NULL,
  email text NOT NULL REFERENCES accounts,
  linked_at timestamptz NOT NULL,
  PRIMARY KEY (issuer, subject),
  -- The next owner of an address must not become the account's owner.
  UNIQUE (issuer, email)
);

-- Sign-ins that a provider confirmed, kept as long as they could be replayed.
CREATE TABLE oidc_sign_ins (
  id text COLLATE "C" PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX oidc_sign_ins_by_end ON oidc_sign_ins (expires_at);

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  owner_email text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('inference', 'tools')),
  name text NOT NULL,
  -- SHA-256 of the key, which is not kept, and the end by which people recognize it. NULL: the key is too short to show its end.
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  start text NOT NULL,
  last_four text,
  -- What a tools key may list: its whole workspace, one product or one project.
  scope_kind text NOT NULL DEFAULT 'workspace' CHECK (scope_kind IN ('workspace', 'product', 'project')),
  scope_id text COLLATE "C",
  -- In UTC months and days. NULL: no limit.
  monthly_spend_limit_nano bigint CHECK (monthly_spend_limit_nano > 0),
  daily_spend_limit_nano bigint CHECK (daily_spend_limit_nano > 0),
  rate_limit_rpm integer CHECK (rate_limit_rpm BETWEEN 1 AND 10000),
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz,
  FOREIGN KEY (workspace_id, owner_email) REFERENCES members (workspace_id, email),
  CHECK ((scope_kind = 'workspace') = (scope_id IS NULL))
);
CREATE INDEX api_keys_by_workspace ON api_keys (workspace_id, id);
CREATE INDEX api_keys_by_owner ON api_keys (owner_email);

CREATE TABLE audit_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  event text NOT NULL,
  -- A person's address, `operator` or `weir`.
  actor text NOT NULL,
  role text NOT NULL,
  -- The credential that a member used. NULL: the operator, or Weir itself.
  carried_by text,
  -- NULL: it concerns no workspace.
  workspace_id text COLLATE "C",
  target text,
  changes jsonb NOT NULL
);
CREATE INDEX audit_events_by_workspace ON audit_events (workspace_id, id);
CREATE INDEX audit_events_by_target ON audit_events (target, id);

CREATE TABLE tickets (
  id text COLLATE "C" PRIMARY KEY,
  -- The name that people and mails use.
  reference text COLLATE "C" NOT NULL UNIQUE,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  owner_email text NOT NULL,
  type text NOT NULL CHECK (type IN ('feedback', 'bug', 'support')),
  subject text NOT NULL,
  -- The fields as they were sent, without the attachment.
  details jsonb NOT NULL,
  status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'in_progress', 'resolved', 'closed')),
  -- SHA-256 of type, fields and attachment. A repeated ticket is the same one.
  fingerprint bytea NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  FOREIGN KEY (workspace_id, owner_email) REFERENCES members (workspace_id, email)
);
CREATE INDEX tickets_by_owner ON tickets (workspace_id, owner_email, created_at DESC, id DESC);
CREATE INDEX tickets_of_workspace ON tickets (workspace_id, created_at DESC, id DESC);
CREATE INDEX tickets_by_fingerprint ON tickets (fingerprint, created_at);
-- Counts for the quota of tickets.
CREATE INDEX tickets_by_workspace ON tickets (workspace_id, created_at DESC) INCLUDE (type);

-- The files themselves are in the data folder.
CREATE TABLE ticket_attachments (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  owner_email text NOT NULL,
  -- NULL: it was sent ahead of its ticket.
  ticket_id text COLLATE "C" UNIQUE REFERENCES tickets,
  name text NOT NULL,
  size_bytes bigint NOT NULL,
  sha256 bytea NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX ticket_attachments_unused ON ticket_attachments (created_at) WHERE ticket_id IS NULL;
CREATE INDEX ticket_attachments_by_workspace ON ticket_attachments (workspace_id) INCLUDE (size_bytes, ticket_id, created_at);

-- Mails, each written in the transaction that causes it.
CREATE TABLE mails (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The ticket that it acknowledges; a ticket has at most one such mail. NULL: none.
  ticket_id text COLLATE "C" UNIQUE REFERENCES tickets,
  recipient text NOT NULL,
  subject text NOT NULL,
  body text NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sent', 'given_up')),
  -- Fixed by the first attempt, so that every attempt is the same mail.
  message_id text,
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL,
  -- The code of the last failure, never the server's text.
  failure text,
  ended_at timestamptz
);
CREATE INDEX mails_waiting ON mails (due_at, id) WHERE state = 'waiting';

-- The events that a workspace wants alerts for.
CREATE TABLE alert_rules (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  -- A kind of src/accounts/alerts/kinds.ts.
  kind text NOT NULL,
  -- The only key or member that it watches. Empty: all of them.
  subject text COLLATE "C" NOT NULL DEFAULT '',
  -- The shares of a limit at which it alerts. Empty: its kind has no limit.
  percents smallint[] NOT NULL,
  -- The balance below which it alerts. NULL: its kind watches no balance.
  amount_nano bigint,
  mail boolean NOT NULL,
  webhooks boolean NOT NULL,
  -- For a balance: whether it alerts when the balance falls below the amount, and how often it was armed.
  armed boolean NOT NULL DEFAULT true,
  armings integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX alert_rules_of_workspace ON alert_rules (workspace_id, kind, subject, coalesce(amount_nano, 0));

-- How far each workspace with rules has been checked against them.
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
  -- The rule that made it, which may be deleted. Empty: none.
  rule_id text COLLATE "C" NOT NULL,
  -- The id of its subject. Empty: the workspace itself.
  subject text COLLATE "C" NOT NULL,
  -- Alerts once within this: a month or a day, how often a rule was armed, or the event itself.
  period text COLLATE "C" NOT NULL,
  percent smallint NOT NULL,
  text text NOT NULL,
  -- The body that webhooks get, as it is sent.
  body text NOT NULL,
  -- How many people were mailed.
  mails integer NOT NULL,
  UNIQUE (workspace_id, kind, rule_id, subject, period, percent)
);
CREATE INDEX alerts_of_workspace ON alerts (workspace_id, id);

CREATE TABLE alert_webhooks (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  -- Distinguishes several of one service, such as channels. Empty: none.
  name text NOT NULL,
  -- What it gets: an entry of src/accounts/alerts/webhook-formats.ts.
  format text NOT NULL,
  -- For Slack and Teams only the host, since whoever has the whole address may post.
  url text NOT NULL,
  -- The secret that signs; for PagerDuty its integration key, for Slack and Teams the whole address.
  sealed bytea NOT NULL,
  -- The old secret, which also signs until this time.
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
  -- An attempt moves this forward before it begins, so that no other process makes the same attempt.
  due_at timestamptz NOT NULL,
  -- After this time it is given up.
  until timestamptz NOT NULL,
  tried_at timestamptz,
  -- The HTTP status of the last answer.
  status smallint,
  -- Why there was no answer, or no attempt.
  failure text,
  PRIMARY KEY (alert_id, webhook_id)
);
CREATE INDEX alert_deliveries_of_webhook ON alert_deliveries (webhook_id);
CREATE INDEX alert_deliveries_waiting ON alert_deliveries (webhook_id, due_at) WHERE state = 'waiting';
