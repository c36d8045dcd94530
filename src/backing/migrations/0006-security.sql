-- The security platform: known vulnerabilities, the components of projects, and the findings that follow from both.

-- Packages as version rules and matches name them. An ecosystem has its name in OSV records. Two spellings of a package share the key.
CREATE TABLE packages (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  ecosystem text COLLATE "C" NOT NULL
    CHECK (ecosystem IN ('npm', 'PyPI', 'Maven', 'Go', 'crates.io', 'RubyGems', 'NuGet')),
  key text COLLATE "C" NOT NULL,
  name text NOT NULL,
  UNIQUE (ecosystem, key)
);
CREATE INDEX packages_by_spelling ON packages (lower(key)) WHERE ecosystem = 'Go';

-- Records as their sources publish them, never merged.
CREATE TABLE advisories (
  id text COLLATE "C" PRIMARY KEY,
  -- From the record, to the nanosecond: an older record never replaces a newer one.
  modified text COLLATE "C" NOT NULL,
  withdrawn boolean NOT NULL,
  -- SHA-256 of the record in its canonical form: importing it again changes nothing.
  digest bytea NOT NULL,
  record jsonb NOT NULL,
  imported_at timestamptz NOT NULL
);

-- Other names of the same issue, as each record claims them: withdrawing a claim removes its name.
CREATE TABLE advisory_aliases (
  advisory_id text COLLATE "C" NOT NULL REFERENCES advisories ON DELETE CASCADE,
  alias text COLLATE "C" NOT NULL,
  PRIMARY KEY (advisory_id, alias)
);
CREATE INDEX advisory_aliases_by_alias ON advisory_aliases (alias, advisory_id);

-- How fresh the records of each ecosystem are. The first record or synchronization of an ecosystem makes its row.
CREATE TABLE advisory_ecosystems (
  ecosystem text COLLATE "C" PRIMARY KEY
    CHECK (ecosystem IN ('npm', 'PyPI', 'Maven', 'Go', 'crates.io', 'RubyGems', 'NuGet')),
  -- When a record about it was last received, changed or not. NULL: never.
  imported_at timestamptz,
  -- The newest `modified` of its records. NULL: none was imported.
  newest_record timestamptz,
  -- When its published archive was last compared, with the archive's ETag and its Last-Modified. NULL: never.
  synced_at timestamptz,
  etag text,
  published_at timestamptz,
  -- When the ecosystem's first synchronization began to import records, while it runs: until it ends the ecosystem is unknown. NULL: it
  -- ended, none has begun, or records were imported by hand before it.
  sync_began_at timestamptz
);

-- The last synchronization of advisories by the service itself: one row, so that at most one runs at a time.
CREATE TABLE advisory_sync_run (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  id text NOT NULL,
  started_at timestamptz NOT NULL,
  -- When the process that runs it was last seen. If this stops advancing, it has died.
  seen_at timestamptz NOT NULL,
  -- Its progress, in words.
  progress text NOT NULL,
  -- NULL: it runs.
  ended_at timestamptz,
  -- Why it ended without having synchronized all ecosystems. NULL: it still runs, or all were synchronized.
  failure text,
  -- The outcome for each ecosystem.
  results jsonb NOT NULL DEFAULT '[]'
);

-- Issues: one for each group of aliases. The id stays when an issue gets another name.
CREATE TABLE vulnerabilities (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The name that is shown: its CVE id, otherwise another of its ids.
  name text COLLATE "C" NOT NULL,
  severity text CHECK (severity IN ('critical', 'high', 'medium', 'low')),
  score numeric(3, 1) CHECK (score BETWEEN 0 AND 10),
  cvss_version text,
  cvss_vector text,
  -- Id of the record with this severity, and whether it is a vector's score, the record's word, or critical as malware. NULL: none has one.
  severity_source text COLLATE "C",
  severity_basis text CHECK (severity_basis IN ('vector', 'word', 'malware')),
  -- The order of lists: 1,000 for each step of severity (low 1 to critical 4) and ten times the score. Without a severity 1 to 999: the month in
  -- which the first of its records was published, counted from January 1999 (1), so that the newest come first. 0: no record says when it was
  -- published, or the score is 0.0.
  rank smallint NOT NULL CHECK (rank BETWEEN 0 AND 4100),
  -- At most 160 characters.
  description text NOT NULL,
  -- Every record about it is withdrawn.
  withdrawn boolean NOT NULL,
  -- It was joined with another issue, or no record names it any longer. It stays for the findings and decisions that refer to it.
  ended boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX vulnerabilities_by_name ON vulnerabilities (name) WHERE NOT ended;

-- Every name by which an issue is found. A shared name stands for several issues, and is evidence for each of them.
CREATE TABLE vulnerability_names (
  name text COLLATE "C" NOT NULL,
  vulnerability_id bigint NOT NULL REFERENCES vulnerabilities ON DELETE CASCADE,
  shared boolean NOT NULL,
  PRIMARY KEY (name, vulnerability_id)
);
-- People write ids in any case.
CREATE INDEX vulnerability_names_by_upper ON vulnerability_names (upper(name));
CREATE INDEX vulnerability_names_by_vulnerability ON vulnerability_names (vulnerability_id);

-- The entries of records that say which versions are affected, for packages of the seven ecosystems.
CREATE TABLE affected_packages (
  advisory_id text COLLATE "C" NOT NULL REFERENCES advisories ON DELETE CASCADE,
  -- The entry's place in the record.
  position integer NOT NULL,
  package_id bigint NOT NULL REFERENCES packages,
  -- Its fields `ranges` (without those of commits) and `versions`.
  entry jsonb NOT NULL,
  PRIMARY KEY (advisory_id, position)
);
CREATE INDEX affected_packages_by_package ON affected_packages (package_id);

-- The packages whose records count for a package. Go modules are case-sensitive, but Go package URLs in their canonical form are not. A
-- module has the records of its exact spelling. If there are none, it has those of modules that differ only by case. So both spellings find
-- a module, and two modules that differ only by case each find their own records.
CREATE VIEW package_records (package_id, recorded_as) AS
  SELECT id, id FROM packages WHERE EXISTS (SELECT FROM affected_packages WHERE affected_packages.package_id = packages.id)
  UNION ALL
  SELECT asked.id, other.id
  FROM packages AS asked
  JOIN packages AS other ON other.ecosystem = 'Go' AND lower(other.key) = lower(asked.key) AND other.id <> asked.id
  WHERE asked.ecosystem = 'Go'
    AND NOT EXISTS (
      SELECT FROM affected_packages JOIN advisories ON advisories.id = advisory_id
      WHERE affected_packages.package_id = asked.id AND NOT advisories.withdrawn)
    AND EXISTS (SELECT FROM affected_packages WHERE affected_packages.package_id = other.id);

-- How likely vulnerabilities are to be exploited, estimated by EPSS, and which ones are exploited, listed in CISA's catalog (KEV). By CVE
-- id: a row needs no advisory.
CREATE TABLE exploits (
  cve text COLLATE "C" PRIMARY KEY,
  -- The probability within 30 days, and the share of all CVE ids with at most that. NULL: EPSS has no score.
  epss real CHECK (epss BETWEEN 0 AND 1),
  percentile real CHECK (percentile BETWEEN 0 AND 1),
  -- The date of the file that it comes from.
  epss_date date,
  -- When it was added to the catalog. NULL: it is not in it.
  kev_added date,
  kev_date date
);
CREATE INDEX exploits_known ON exploits (kev_added) WHERE kev_added IS NOT NULL;

-- The newest complete file of each. A file with an older date is not stored.
CREATE TABLE exploit_files (
  source text COLLATE "C" PRIMARY KEY CHECK (source IN ('EPSS', 'KEV')),
  file_date date NOT NULL,
  rows integer NOT NULL,
  -- When it was last compared with what its publisher offers, with the ETag of that. NULL: it was imported by hand.
  synced_at timestamptz,
  etag text
);

CREATE TABLE products (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  name text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  UNIQUE (workspace_id, name),
  UNIQUE (workspace_id, id)
);

CREATE TABLE projects (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  -- NULL: it is in no product.
  product_id text COLLATE "C",
  name text COLLATE "C" NOT NULL,
  -- Its origin, with the address of its repository if it has one. Projects of the sample data are 'sample'; only they can be removed.
  provider text NOT NULL CHECK (provider IN ('upload', 'git', 'archive', 'github', 'gitlab', 'sample')),
  repository text,
  -- The SBOM of its current components. NULL: none has been uploaded yet.
  sbom_id text COLLATE "C",
  scan_status text NOT NULL DEFAULT 'never' CHECK (scan_status IN ('never', 'pending', 'scanning', 'completed', 'failed')),
  -- Counts the requested scans: a scan that began before the last request does not satisfy it.
  scan_asked bigint NOT NULL DEFAULT 0,
  -- When a scanner may take it up: while one has it, the end of its lease, which identifies it.
  scan_due_at timestamptz,
  -- Since it was last requested.
  scan_attempts integer NOT NULL DEFAULT 0,
  -- A sentence for people. NULL: it has not failed.
  scan_failure text,
  -- When the scan under way began, or the last one: findings that it saw have this time as `last_seen`.
  scan_began_at timestamptz,
  -- The progress of the scan under way. NULL: there is none.
  scan_pass jsonb,
  -- The scanners' time that the scan under way has used, and its resulting place among the workspace's projects.
  scan_served_ms bigint NOT NULL DEFAULT 0,
  scan_level smallint NOT NULL DEFAULT 0,
  -- Findings that the last scan did not store, since a project has a maximum.
  findings_left_out integer NOT NULL DEFAULT 0,
  unknowns_left_out integer NOT NULL DEFAULT 0,
  last_scanned_at timestamptz,
  created_at timestamptz NOT NULL,
  UNIQUE (workspace_id, name),
  UNIQUE (workspace_id, id),
  FOREIGN KEY (workspace_id, product_id) REFERENCES products (workspace_id, id)
);
CREATE INDEX projects_by_product ON projects (product_id, id) WHERE product_id IS NOT NULL;
CREATE INDEX sample_projects ON projects (workspace_id) WHERE provider = 'sample';
CREATE INDEX projects_to_scan ON projects (workspace_id, scan_level, scan_due_at, id) WHERE scan_status IN ('pending', 'scanning');

-- Scans get slices of time, the least served workspace first: the scanners' time that each has used, decaying, as of a moment.
CREATE TABLE scan_shares (
  workspace_id text COLLATE "C" PRIMARY KEY REFERENCES workspaces,
  served_ms double precision NOT NULL,
  at timestamptz NOT NULL
);
CREATE FUNCTION faded_share(served_ms double precision, since timestamptz, at timestamptz, fades_ms double precision)
RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(served_ms * exp(-least(greatest(extract(epoch FROM at - since)::double precision * 1000 / fades_ms, 0), 100)), 0)
$$;

CREATE TABLE sboms (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL,
  project_id text COLLATE "C" NOT NULL,
  -- SHA-256 of the bytes, and of the content.
  sha256 bytea NOT NULL,
  digest bytea NOT NULL,
  format text NOT NULL CHECK (format IN ('CycloneDX', 'SPDX')),
  spec_version text NOT NULL,
  encoding text NOT NULL CHECK (encoding IN ('json', 'xml', 'tag-value', 'json-ld')),
  document_id text,
  name text,
  filename text,
  -- Nested ones included, without the root.
  components integer NOT NULL,
  -- What its format forbids and was read nevertheless, one line for each kind.
  warnings text[] NOT NULL DEFAULT '{}',
  -- Characters of its rows below, which count against the storage quota.
  row_characters bigint NOT NULL DEFAULT 0,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  -- It is being deleted in parts, and belongs to no project: the same bytes make a new document.
  removing boolean NOT NULL DEFAULT false,
  UNIQUE (project_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id)
);
CREATE UNIQUE INDEX sboms_of_project ON sboms (project_id, sha256) WHERE NOT removing;
CREATE INDEX sboms_to_remove ON sboms (id) WHERE removing;
CREATE INDEX sboms_by_workspace ON sboms (workspace_id, created_at DESC) INCLUDE (row_characters);
ALTER TABLE projects ADD FOREIGN KEY (id, sbom_id) REFERENCES sboms (project_id, id);

-- In the order of the document. The root, where it names one, is at 0, components begin at 1.
CREATE TABLE sbom_components (
  sbom_id text COLLATE "C" NOT NULL REFERENCES sboms ON DELETE CASCADE,
  position integer NOT NULL,
  ref text NOT NULL,
  type text,
  -- With its group or namespace, in its ecosystem's spelling if it has one.
  name text NOT NULL,
  version text,
  -- What all spellings of the version share. NULL: the version itself, or it belongs to none of the seven ecosystems.
  version_key text COLLATE "C",
  -- From the document, whether it can be read or not. NULL: none.
  purl text,
  -- NULL: it belongs to none of the seven ecosystems, so nothing is matched.
  package_id bigint REFERENCES packages,
  relation text NOT NULL CHECK (relation IN ('root', 'direct', 'transitive', 'unknown')),
  -- The preceding position on a shortest path from the root. NULL: it is the root, or no path leads to it.
  via integer,
  -- In CycloneDX's words: required, optional, or excluded (only for development and tests). NULL: the document does not say.
  scope text,
  licenses text[] NOT NULL,
  PRIMARY KEY (sbom_id, position)
);
CREATE INDEX sbom_components_by_package ON sbom_components (package_id, sbom_id) WHERE package_id IS NOT NULL;

-- How a name is searched for: in any case, `:` as `/` and runs of `.`, `_` and `-` as one `-`, since ecosystems and people differ in these. A
-- search finds the beginning of the whole name, or of its last part without a Go module's major version: `log4j` finds
-- `org.apache.logging.log4j:log4j-core`. Of a longer name its beginning is searched.
CREATE FUNCTION searched_name(name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT regexp_replace(translate(lower(left(name, 512)), ':._', '/--'), '-{2,}', '-', 'g')
$$;
CREATE FUNCTION searched_part(searched text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT substring(searched FROM '([^/]*)(?:/v[0-9]+)?$')
$$;
CREATE INDEX sbom_components_by_name ON sbom_components (sbom_id, (left(searched_name(name), 64) COLLATE "C"))
  WHERE strpos(searched_name(name), '/') > 0;
CREATE INDEX sbom_components_by_part ON sbom_components (sbom_id, (left(searched_part(searched_name(name)), 64) COLLATE "C"));

-- `from_position` needs `to_position`.
CREATE TABLE sbom_edges (
  sbom_id text COLLATE "C" NOT NULL REFERENCES sboms ON DELETE CASCADE,
  from_position integer NOT NULL,
  to_position integer NOT NULL,
  PRIMARY KEY (sbom_id, from_position, to_position)
);

-- How many components of an SBOM each ecosystem has, so that the reader of a verdict knows what was compared.
CREATE TABLE sbom_ecosystems (
  sbom_id text COLLATE "C" NOT NULL REFERENCES sboms ON DELETE CASCADE,
  -- Empty: components of none of the seven ecosystems, or without a package URL that can be read.
  ecosystem text COLLATE "C" NOT NULL,
  -- Without the root.
  components integer NOT NULL,
  -- Components among them without a comparable version; where `ecosystem` is empty, with a package URL that cannot be read.
  unreadable integer NOT NULL,
  PRIMARY KEY (sbom_id, ecosystem)
);

-- A finding: a version of a package in a project has an issue. One that is gone is resolved: only a removed project takes its findings along.
CREATE TABLE findings (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL,
  -- The project's product, kept here so that lists of a product need no other table.
  product_id text COLLATE "C",
  project_id text COLLATE "C" NOT NULL,
  package_id bigint NOT NULL REFERENCES packages,
  -- In the spelling in which it was first found.
  version text COLLATE "C" NOT NULL,
  -- What all spellings of the version share.
  version_key text COLLATE "C" NOT NULL,
  vulnerability_id bigint NOT NULL REFERENCES vulnerabilities,
  -- From the document.
  component text NOT NULL,
  purl text,
  status text NOT NULL CHECK (status IN ('open', 'resolved', 'ignored', 'in_progress', 'not_affected')),
  false_positive boolean NOT NULL,
  -- Counted by lists of vulnerabilities.
  live boolean NOT NULL GENERATED ALWAYS AS (status IN ('open', 'in_progress') AND NOT false_positive) STORED,
  -- Whether the project's current document has the package and a record that is not withdrawn has the issue.
  present boolean NOT NULL,
  -- The issue's rank, kept here so that lists need no other table.
  rank smallint NOT NULL,
  fix_version text,
  -- `{source, range, comparator}` and other reasons.
  evidence jsonb NOT NULL,
  first_seen timestamptz NOT NULL,
  last_seen timestamptz NOT NULL,
  UNIQUE (project_id, package_id, version_key, vulnerability_id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id)
);
CREATE INDEX findings_by_vulnerability ON findings (vulnerability_id, id);
-- Each list of findings reads one of these in order, and nothing else until it knows its page.
CREATE INDEX findings_of_workspace ON findings (workspace_id, status, rank DESC, id);
CREATE INDEX findings_of_product ON findings (product_id, status, rank DESC, id) WHERE product_id IS NOT NULL;
CREATE INDEX findings_of_project ON findings (project_id, status, rank DESC, id);
CREATE INDEX false_positives_of_workspace ON findings (workspace_id, rank DESC, id) WHERE false_positive;
CREATE INDEX false_positives_of_product ON findings (product_id, rank DESC, id) WHERE false_positive;
CREATE INDEX false_positives_of_project ON findings (project_id, rank DESC, id) WHERE false_positive;
CREATE INDEX live_findings ON findings (project_id, vulnerability_id, rank DESC, id) WHERE live;

-- The documents in which a finding occurs. Earlier ones stay.
CREATE TABLE finding_sboms (
  sbom_id text COLLATE "C" NOT NULL REFERENCES sboms ON DELETE CASCADE,
  finding_id text COLLATE "C" NOT NULL REFERENCES findings ON DELETE CASCADE,
  -- Copied from the finding by triggers, so that a document's list needs no other table.
  status text NOT NULL,
  false_positive boolean NOT NULL,
  rank smallint NOT NULL,
  PRIMARY KEY (sbom_id, finding_id)
);
CREATE INDEX finding_sboms_by_finding ON finding_sboms (finding_id, sbom_id);
CREATE INDEX findings_of_sbom ON finding_sboms (sbom_id, rank DESC, finding_id) INCLUDE (status, false_positive);

-- People's decisions, stored apart from findings: for a package of a project, whatever its version, or for one version of it. Of the two
-- that may hold for a finding the later one does.
CREATE TABLE triages (
  project_id text COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
  package_id bigint NOT NULL REFERENCES packages,
  vulnerability_id bigint NOT NULL REFERENCES vulnerabilities,
  -- Empty: all versions.
  version text COLLATE "C" NOT NULL DEFAULT '',
  status text NOT NULL CHECK (status IN ('open', 'resolved', 'ignored', 'in_progress', 'not_affected')),
  false_positive boolean NOT NULL,
  note text,
  -- Why it is not affected, in CycloneDX's words. NULL: not given, or another status.
  justification text CHECK (justification IS NULL OR status = 'not_affected'),
  -- The last day, in UTC, on which the risk is accepted: after it the finding is open again. NULL: no end, or another status.
  accepted_until date CHECK (accepted_until IS NULL OR status = 'ignored'),
  -- The member who takes care of it. NULL: none.
  owner_email text,
  decided_by text NOT NULL,
  decided_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, package_id, vulnerability_id, version)
);
CREATE INDEX triages_accepted ON triages (accepted_until) WHERE accepted_until IS NOT NULL;

-- The history of findings. Rows are added and never changed.
CREATE TABLE finding_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  finding_id text COLLATE "C" NOT NULL REFERENCES findings ON DELETE CASCADE,
  -- The project of the finding, kept here so that the activity of a project needs no other table.
  project_id text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  -- An e-mail address, or `scanner`.
  actor text NOT NULL,
  cause text NOT NULL,
  -- The fields that changed: `{name: {from, to}}`.
  changes jsonb NOT NULL
);
CREATE INDEX finding_events_by_finding ON finding_events (finding_id, id);
-- What people decided, and what ended: most events are a scan's, and not among them.
CREATE INDEX decisions_of_project ON finding_events (project_id, at DESC, id DESC) WHERE cause IN ('decided', 'acceptance_ended');

-- Components whose version cannot be compared with the records: shown as unknown, neither affected nor clean.
CREATE TABLE unknown_matches (
  project_id text COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
  package_id bigint NOT NULL REFERENCES packages,
  version text COLLATE "C" NOT NULL,
  version_key text COLLATE "C" NOT NULL,
  vulnerability_id bigint NOT NULL REFERENCES vulnerabilities ON DELETE CASCADE,
  reason text NOT NULL,
  -- When the scan that last saw it began: rows that no later scan saw are deleted.
  seen timestamptz NOT NULL,
  PRIMARY KEY (project_id, package_id, version, vulnerability_id)
);
