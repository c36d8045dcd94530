-- Card top-up by Stripe: the saved card and automatic top-up of a workspace, its payments, their refunds, and the webhook's events.

-- One row for each workspace that has used top-up. Every change to a workspace's top-ups locks this row first.
CREATE TABLE top_up_settings (
  workspace_id text COLLATE "C" PRIMARY KEY REFERENCES workspaces,
  -- Stripe's ids. NULL: none yet.
  customer text COLLATE "C",
  payment_method text COLLATE "C",
  card_brand text,
  card_last_four text,
  -- The month after which the card is refused, as YYYY-MM.
  card_expires text,
  enabled boolean NOT NULL DEFAULT false,
  threshold_nano bigint CHECK (threshold_nano > 0),
  amount_nano bigint CHECK (amount_nano > 0),
  monthly_cap_nano bigint CHECK (monthly_cap_nano > 0),
  -- Receives Stripe's receipts of automatic top-ups: the admin who enabled it last.
  receipt_email text,
  -- Declines in a row.
  failures integer NOT NULL DEFAULT 0,
  -- Nothing is charged until a person has authenticated a payment.
  paused boolean NOT NULL DEFAULT false,
  CHECK (NOT enabled OR (payment_method IS NOT NULL AND threshold_nano IS NOT NULL AND amount_nano IS NOT NULL AND monthly_cap_nano IS NOT NULL))
);
CREATE INDEX top_up_settings_enabled ON top_up_settings (workspace_id) WHERE enabled AND NOT paused;

CREATE TABLE top_ups (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES top_up_settings,
  kind text NOT NULL CHECK (kind IN ('manual', 'automatic')),
  state text NOT NULL CHECK (state IN
    ('created', 'open', 'confirming', 'processing', 'action_required', 'paid', 'credited', 'failed', 'expired', 'canceled')),
  -- The requested amount, in whole cents.
  amount_nano bigint NOT NULL CHECK (amount_nano > 0),
  -- The credited amount.
  received_nano bigint NOT NULL DEFAULT 0,
  refunded_nano bigint NOT NULL DEFAULT 0,
  disputed_nano bigint NOT NULL DEFAULT 0,
  -- The number of the payment under way; each has its own idempotency key, and is written before its call.
  try integer NOT NULL DEFAULT 1,
  tried_at timestamptz NOT NULL,
  -- A declined payment is tried again at this time.
  retry_at timestamptz,
  -- The payment's parameters, kept so that a repeated call is the same.
  customer text COLLATE "C",
  payment_method text COLLATE "C",
  receipt_email text,
  -- Stripe's Checkout session, its page, and when it expires.
  session text COLLATE "C",
  session_url text,
  session_expires_at timestamptz,
  payment_intent text COLLATE "C",
  -- Stripe's code of the last failure.
  failure text,
  -- The person, or `operator` or `weir`.
  made_by text NOT NULL,
  created_at timestamptz NOT NULL,
  ended_at timestamptz,
  is_pending boolean NOT NULL GENERATED ALWAYS AS
    (state IN ('created', 'open', 'confirming', 'processing', 'action_required') OR retry_at IS NOT NULL) STORED
);
-- A workspace has at most one automatic payment and one Checkout under way, even with concurrent processes.
CREATE UNIQUE INDEX top_ups_pending ON top_ups (workspace_id, kind) WHERE is_pending;
CREATE UNIQUE INDEX top_ups_payment_intent ON top_ups (payment_intent);
CREATE INDEX top_ups_by_workspace ON top_ups (workspace_id, id);
CREATE INDEX top_ups_unfinished ON top_ups (tried_at) WHERE is_pending OR state = 'paid';

CREATE TABLE top_up_refunds (
  id text COLLATE "C" PRIMARY KEY,
  top_up_id text COLLATE "C" NOT NULL REFERENCES top_ups,
  amount_nano bigint NOT NULL CHECK (amount_nano > 0),
  state text NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed')),
  -- Stripe's id. NULL: its answer is not known yet.
  refund text COLLATE "C" UNIQUE,
  made_by text NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX top_up_refunds_by_top_up ON top_up_refunds (top_up_id);
CREATE INDEX top_up_refunds_pending ON top_up_refunds (created_at) WHERE state = 'pending';

-- Events of Stripe's webhook, each written in the transaction that applied it, and deleted when Stripe no longer repeats it.
CREATE TABLE stripe_events (
  id text COLLATE "C" PRIMARY KEY,
  at timestamptz NOT NULL
);
CREATE INDEX stripe_events_by_time ON stripe_events (at);
