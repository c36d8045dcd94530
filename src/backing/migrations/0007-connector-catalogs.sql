-- The connector catalog as it was published, version after version: nothing here is ever changed.

CREATE TABLE connector_catalogs (
  -- In the order of publication, from 1.
  number integer PRIMARY KEY,
  -- The day, and which one of that day.
  version text COLLATE "C" NOT NULL UNIQUE,
  -- Of the NDJSON export. A catalog that comes back after another one is a version of its own.
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
  -- The line of the NDJSON export, as text: its bytes count.
  row text CHECK ((row IS NULL) = (op = 'removed')),
  UNIQUE (catalog, connector_id)
);
