-- Workspaces' own keys for providers, each sealed under the workspace's data key.

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
  -- Digests of the catalog's entries whose launch check passed with this key. They count for this workspace alone.
  checks text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  tested_at timestamptz NOT NULL,
  last_used_at timestamptz,
  -- When the admins were last told that it was refused.
  mailed_at timestamptz
);
CREATE UNIQUE INDEX own_keys_in_use ON own_keys (workspace_id, provider_id) WHERE state <> 'disabled';

-- Whether models that an own key serves may also be served on credit, by other providers.
ALTER TABLE workspaces ADD COLUMN own_key_fallback boolean NOT NULL DEFAULT false;

-- Admins get a mail when a provider refuses their workspace's key. It acknowledges no ticket.
ALTER TABLE mails ALTER COLUMN ticket_id DROP NOT NULL;
