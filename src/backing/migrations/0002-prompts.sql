-- What workspaces store sealed, and the keys that it is sealed with.

-- One data key a workspace, sealed by a key of SECRETS_KEY: exchanging that one means sealing these anew, and nothing else.
CREATE TABLE data_keys (
  workspace_id text COLLATE "C" PRIMARY KEY REFERENCES workspaces,
  wrapped bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Prompts and answers of workspaces that switched their storage on. Kept until somebody deletes them.
CREATE TABLE stored_prompts (
  generation_id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  -- When the request was admitted, as in the request log.
  at timestamptz NOT NULL,
  -- Sealed JSON: the request's messages, and the answer's message; null where nothing was answered.
  messages bytea NOT NULL,
  answer bytea,
  -- The answer was longer than what is kept of it.
  answer_cut boolean NOT NULL
);
CREATE INDEX stored_prompts_by_workspace ON stored_prompts (workspace_id, at);
-- Sealed bytes cannot be compressed.
ALTER TABLE stored_prompts ALTER COLUMN messages SET STORAGE EXTERNAL, ALTER COLUMN answer SET STORAGE EXTERNAL;
