-- The security platform: what is known of vulnerabilities, what projects are made of, and what follows from both.

-- What version rules and matches speak of. An ecosystem is named as OSV records name it; the key is what two spellings share.
CREATE TABLE packages (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  ecosystem text COLLATE "C" NOT NULL
    CHECK (ecosystem IN ('npm', 'PyPI', 'Maven', 'Go', 'crates.io', 'RubyGems', 'NuGet')),
  key text COLLATE "C" NOT NULL,
  name text NOT NULL,
  UNIQUE (ecosystem, key)
);

-- Records of sources, one by one and never merged.
CREATE TABLE advisories (
  id text COLLATE "C" PRIMARY KEY,
  -- As the record has it, to the nanosecond: an older one never replaces a newer one.
  modified text COLLATE "C" NOT NULL,
  withdrawn boolean NOT NULL,
  -- SHA-256 of the record in its canonical form: the same once more changes nothing.
  digest bytea NOT NULL,
  record jsonb NOT NULL,
  imported_at timestamptz NOT NULL
);

-- Other names of the same issue, as each record claims them: a claim taken back takes its name away.
CREATE TABLE advisory_aliases (
  advisory_id text COLLATE "C" NOT NULL REFERENCES advisories ON DELETE CASCADE,
  alias text COLLATE "C" NOT NULL,
  PRIMARY KEY (advisory_id, alias)
);
CREATE INDEX advisory_aliases_by_alias ON advisory_aliases (alias, advisory_id);

-- Issues: one for each group of aliases. The id stays when an issue gets another name.
CREATE TABLE vulnerabilities (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- What it is shown as: its CVE id, else one of its others.
  name text COLLATE "C" NOT NULL,
  severity text CHECK (severity IN ('critical', 'high', 'medium', 'low')),
  score numeric(3, 1) CHECK (score BETWEEN 0 AND 10),
  cvss_version text,
  cvss_vector text,
  -- Id of the record that says so.
  severity_source text COLLATE "C",
  -- 1,000 for each step of severity (low 1 to critical 4, none 0) and ten times the score: the order of lists.
  rank smallint NOT NULL CHECK (rank BETWEEN 0 AND 4100),
  -- At most 160 characters.
  description text NOT NULL,
  -- Every record about it is withdrawn.
  withdrawn boolean NOT NULL,
  -- It was joined with another issue, or no record speaks of it any longer; it stays for the findings and decisions of its time.
  ended boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX vulnerabilities_by_name ON vulnerabilities (name) WHERE NOT ended;

-- Every name that an issue is found by. A shared one stands for several issues, and is evidence of each of them.
CREATE TABLE vulnerability_names (
  name text COLLATE "C" NOT NULL,
  vulnerability_id bigint NOT NULL REFERENCES vulnerabilities ON DELETE CASCADE,
  shared boolean NOT NULL,
  PRIMARY KEY (name, vulnerability_id)
);
-- People write ids in any case.
CREATE INDEX vulnerability_names_by_upper ON vulnerability_names (upper(name));
CREATE INDEX vulnerability_names_by_vulnerability ON vulnerability_names (vulnerability_id);

-- The entries of records that say which versions are affected; of packages of the seven ecosystems alone.
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
  product_id text COLLATE "C",
  name text COLLATE "C" NOT NULL,
  -- Where it comes from; with the address of its repository, where it has one.
  provider text NOT NULL CHECK (provider IN ('upload', 'git', 'archive', 'github', 'gitlab')),
  repository text,
  -- The document that says what it is made of now; null: none was uploaded yet.
  sbom_id text COLLATE "C",
  scan_status text NOT NULL DEFAULT 'never' CHECK (scan_status IN ('never', 'pending', 'scanning', 'completed', 'failed')),
  -- Counts what was asked for: a scan that began before the last question does not answer it.
  scan_asked bigint NOT NULL DEFAULT 0,
  -- When a scanner may take it up: while one has it, the end of its lease, by which it is told from every other.
  scan_due_at timestamptz,
  -- Since it was last asked for.
  scan_attempts integer NOT NULL DEFAULT 0,
  -- A sentence for people; null unless it failed.
  scan_failure text,
  last_scanned_at timestamptz,
  created_at timestamptz NOT NULL,
  UNIQUE (workspace_id, name),
  UNIQUE (workspace_id, id),
  FOREIGN KEY (workspace_id, product_id) REFERENCES products (workspace_id, id)
);
CREATE INDEX projects_by_product ON projects (product_id, id) WHERE product_id IS NOT NULL;
CREATE INDEX projects_to_scan ON projects (scan_due_at, id) WHERE scan_status IN ('pending', 'scanning');

CREATE TABLE sboms (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL,
  project_id text COLLATE "C" NOT NULL,
  -- SHA-256 of the bytes, and of what they say.
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
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  UNIQUE (project_id, sha256),
  UNIQUE (project_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id)
);
ALTER TABLE projects ADD FOREIGN KEY (id, sbom_id) REFERENCES sboms (project_id, id);

-- In the order of the document; the root, where it names one, is at 0, components begin at 1.
CREATE TABLE sbom_components (
  sbom_id text COLLATE "C" NOT NULL REFERENCES sboms ON DELETE CASCADE,
  position integer NOT NULL,
  ref text NOT NULL,
  type text,
  -- With its group or namespace, as its ecosystem spells it where it is of one.
  name text NOT NULL,
  version text,
  -- As the document has it; null: none, or one that is no package URL.
  purl text,
  -- null: of none of the seven ecosystems, so that nothing is matched.
  package_id bigint REFERENCES packages,
  relation text NOT NULL CHECK (relation IN ('root', 'direct', 'transitive', 'unknown')),
  -- The position before it on a shortest way from the root; null for the root, and where no way leads to it.
  via integer,
  -- In the words of CycloneDX: required, optional, or excluded (for development and tests alone); null: not told.
  scope text,
  licenses text[] NOT NULL,
  PRIMARY KEY (sbom_id, position)
);
CREATE INDEX sbom_components_by_package ON sbom_components (package_id, sbom_id) WHERE package_id IS NOT NULL;

-- `from_position` needs `to_position`.
CREATE TABLE sbom_edges (
  sbom_id text COLLATE "C" NOT NULL REFERENCES sboms ON DELETE CASCADE,
  from_position integer NOT NULL,
  to_position integer NOT NULL,
  PRIMARY KEY (sbom_id, from_position, to_position)
);

-- That a version of a package in a project has an issue. It is never deleted: what is gone is resolved.
CREATE TABLE findings (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL,
  -- That of the project, kept here so that lists of a product need nothing else.
  product_id text COLLATE "C",
  project_id text COLLATE "C" NOT NULL,
  package_id bigint NOT NULL REFERENCES packages,
  version text COLLATE "C" NOT NULL,
  vulnerability_id bigint NOT NULL REFERENCES vulnerabilities,
  -- As the document has them.
  component text NOT NULL,
  purl text,
  status text NOT NULL CHECK (status IN ('open', 'resolved', 'ignored', 'in_progress')),
  false_positive boolean NOT NULL,
  -- Whether the project's present document has it and a record that is not withdrawn says so.
  present boolean NOT NULL,
  -- Those of the issue, kept here so that lists need nothing else.
  rank smallint NOT NULL,
  fix_version text,
  -- `{source, range, comparator}` and what else says why.
  evidence jsonb NOT NULL,
  first_seen timestamptz NOT NULL,
  last_seen timestamptz NOT NULL,
  UNIQUE (project_id, package_id, version, vulnerability_id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id)
);
CREATE INDEX findings_by_vulnerability ON findings (vulnerability_id, id);

-- In which documents a finding occurs; those before the present one stay.
CREATE TABLE finding_sboms (
  sbom_id text COLLATE "C" NOT NULL REFERENCES sboms ON DELETE CASCADE,
  finding_id text COLLATE "C" NOT NULL REFERENCES findings ON DELETE CASCADE,
  PRIMARY KEY (sbom_id, finding_id)
);
CREATE INDEX finding_sboms_by_finding ON finding_sboms (finding_id, sbom_id);

-- What people decided, apart from findings: for a package of a project, whatever its version.
CREATE TABLE triages (
  project_id text COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
  package_id bigint NOT NULL REFERENCES packages,
  vulnerability_id bigint NOT NULL REFERENCES vulnerabilities,
  status text NOT NULL CHECK (status IN ('open', 'resolved', 'ignored', 'in_progress')),
  false_positive boolean NOT NULL,
  note text,
  decided_by text NOT NULL,
  decided_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, package_id, vulnerability_id)
);

-- What became of findings; rows are added and never changed.
CREATE TABLE finding_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  finding_id text COLLATE "C" NOT NULL REFERENCES findings ON DELETE CASCADE,
  at timestamptz NOT NULL,
  -- An e-mail address, or `scanner`.
  actor text NOT NULL,
  cause text NOT NULL,
  -- The fields that changed: `{name: {from, to}}`.
  changes jsonb NOT NULL
);
CREATE INDEX finding_events_by_finding ON finding_events (finding_id, id);

-- Components whose version cannot be held against what records say: told as unknown, neither affected nor clean.
CREATE TABLE unknown_matches (
  project_id text COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
  package_id bigint NOT NULL REFERENCES packages,
  version text COLLATE "C" NOT NULL,
  vulnerability_id bigint NOT NULL REFERENCES vulnerabilities ON DELETE CASCADE,
  reason text NOT NULL,
  PRIMARY KEY (project_id, package_id, version, vulnerability_id)
);
