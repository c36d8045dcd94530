-- The connector catalog, and the connections of workspaces to vendors.

-- The catalog as it was published, version after version. Its three tables only grow.
CREATE TABLE connector_catalogs (
  -- In the order of publication, from 1.
  number integer PRIMARY KEY,
  -- The day, and its number within that day.
  version text COLLATE "C" NOT NULL UNIQUE,
  -- The digest of the NDJSON export. A catalog that returns after another one is a new version.
  sha256 text NOT NULL,
  connectors integer NOT NULL,
  published_at timestamptz NOT NULL
);

-- Compressed once, so that all gateways send the same bytes for the same version.
CREATE TABLE connector_exports (
  catalog integer NOT NULL REFERENCES connector_catalogs,
  format text NOT NULL CHECK (format IN ('ndjson', 'csv', 'json')),
  gzip bytea NOT NULL,
  PRIMARY KEY (catalog, format)
);

CREATE TABLE connector_changes (
  -- Without gaps, from 1.
  seq integer PRIMARY KEY,
  catalog integer NOT NULL REFERENCES connector_catalogs,
  connector_id text COLLATE "C" NOT NULL,
  op text NOT NULL CHECK (op IN ('added', 'changed', 'removed')),
  -- The line of the NDJSON export, as text, since its bytes matter. NULL: it was removed.
  row text CHECK ((row IS NULL) = (op = 'removed')),
  UNIQUE (catalog, connector_id)
);

-- Connections of workspaces to vendors, with the values typed into their forms.
CREATE TABLE connections (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  -- The connector's id, which stays when its slug changes; a catalog may drop it.
  connector_id text COLLATE "C" NOT NULL,
  -- What people call it. NULL: the connector's name.
  name text,
  method text NOT NULL CHECK (method IN ('api_token', 'record_only')),
  -- Which alternative of the form was filled in, from 0.
  credential_set integer NOT NULL CHECK (credential_set >= 0),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- The last test with the current credentials; new credentials clear it.
  tested_at timestamptz,
  test_outcome text COLLATE "C",
  -- The vendor's HTTP status. NULL: there was no answer.
  test_status integer,
  test_message text
);
CREATE INDEX connections_by_workspace ON connections (workspace_id, id);

-- Each field sealed separately under the workspace's data key, secret or not.
CREATE TABLE connection_fields (
  connection_id text COLLATE "C" NOT NULL REFERENCES connections ON DELETE CASCADE,
  field text COLLATE "C" NOT NULL,
  sealed bytea NOT NULL,
  PRIMARY KEY (connection_id, field)
);
