-- The tools API's first tables: what its keys look at, tickets, what was attached to them, and the mails that acknowledge them.

-- What lists of a tools key show: its whole workspace, one product of it or one project.
ALTER TABLE api_keys
  ADD COLUMN scope_kind text NOT NULL DEFAULT 'workspace' CHECK (scope_kind IN ('workspace', 'product', 'project')),
  ADD COLUMN scope_id text COLLATE "C",
  ADD CHECK ((scope_kind = 'workspace') = (scope_id IS NULL));

CREATE TABLE tickets (
  id text COLLATE "C" PRIMARY KEY,
  -- What people and mails call it.
  reference text COLLATE "C" NOT NULL UNIQUE,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  owner_email text NOT NULL,
  type text NOT NULL CHECK (type IN ('feedback', 'bug', 'support')),
  subject text NOT NULL,
  -- The fields as they were sent, but for the attachment.
  details jsonb NOT NULL,
  status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'in_progress', 'resolved', 'closed')),
  -- SHA-256 of type, fields and attachment: the same once more is the same ticket.
  fingerprint bytea NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  FOREIGN KEY (workspace_id, owner_email) REFERENCES members (workspace_id, email)
);
CREATE INDEX tickets_by_owner ON tickets (workspace_id, owner_email, created_at DESC, id DESC);
CREATE INDEX tickets_by_fingerprint ON tickets (fingerprint, created_at);

-- The files themselves are in the data folder; without a ticket they were sent ahead of one.
CREATE TABLE ticket_attachments (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  owner_email text NOT NULL,
  ticket_id text COLLATE "C" UNIQUE REFERENCES tickets,
  name text NOT NULL,
  size_bytes bigint NOT NULL,
  sha256 bytea NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX ticket_attachments_unused ON ticket_attachments (created_at) WHERE ticket_id IS NULL;

-- Mails, written in the transaction of what they tell; one for each ticket at most.
CREATE TABLE mails (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  ticket_id text COLLATE "C" NOT NULL UNIQUE REFERENCES tickets,
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
