-- Connections of workspaces to vendors, with what was typed into their forms.

CREATE TABLE connections (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  -- The connector's id, which stays when its slug changes; a catalog may drop it.
  connector_id text COLLATE "C" NOT NULL,
  method text NOT NULL CHECK (method IN ('api_token', 'record_only')),
  -- Which alternative of the form was filled in, from 0.
  credential_set integer NOT NULL CHECK (credential_set >= 0),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX connections_by_workspace ON connections (workspace_id, id);

-- Each field sealed by itself under the workspace's data key, secret or not.
CREATE TABLE connection_fields (
  connection_id text COLLATE "C" NOT NULL REFERENCES connections ON DELETE CASCADE,
  field text COLLATE "C" NOT NULL,
  sealed bytea NOT NULL,
  PRIMARY KEY (connection_id, field)
);
