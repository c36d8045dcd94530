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

-- Who has an account at the vendor of a connection: the last good reading, and what became of the last one. A row exists from the first
-- reading that someone asked for until someone deletes it; while it does, people are read each day.
CREATE TABLE people_readings (
  connection_id text COLLATE "C" PRIMARY KEY REFERENCES connections ON DELETE CASCADE,
  -- The last good reading. NULL: none yet.
  read_at timestamptz,
  is_complete boolean CHECK ((is_complete IS NULL) = (read_at IS NULL)),
  -- Why the second factor of some is not known.
  unknown_factor text,
  -- When the credentials were set that it was read with.
  credentials_at timestamptz,
  -- The last reading, if it failed.
  failing_since timestamptz,
  failed_at timestamptz CHECK ((failed_at IS NULL) = (failing_since IS NULL)),
  outcome text COLLATE "C",
  status integer,
  message text,
  due_at timestamptz NOT NULL,
  -- The process that reads now, until it has stored the result or its time has passed.
  lease text,
  lease_until timestamptz
);
CREATE INDEX people_readings_due ON people_readings (due_at);

-- The people of the last good reading.
CREATE TABLE connection_people (
  connection_id text COLLATE "C" NOT NULL REFERENCES people_readings ON DELETE CASCADE,
  -- In lower case, by which people are ordered and told apart.
  key text COLLATE "C" NOT NULL,
  login text NOT NULL,
  state text NOT NULL,
  -- NULL: the vendor does not tell.
  second_factor boolean,
  PRIMARY KEY (connection_id, key)
);
