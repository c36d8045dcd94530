-- How many components of an SBOM are of which ecosystem, so that whoever reads a verdict knows what it was compared with.
CREATE TABLE sbom_ecosystems (
  sbom_id text COLLATE "C" NOT NULL REFERENCES sboms ON DELETE CASCADE,
  -- Empty: components of none of the seven ecosystems, or without a package URL that can be read.
  ecosystem text COLLATE "C" NOT NULL,
  -- Without the root.
  components integer NOT NULL,
  -- Those among them without a version that can be compared.
  unreadable integer NOT NULL,
  PRIMARY KEY (sbom_id, ecosystem)
);

-- Versions that are there and cannot be read are counted from the next SBOM on.
INSERT INTO sbom_ecosystems (sbom_id, ecosystem, components, unreadable)
SELECT sbom_id, coalesce(packages.ecosystem, ''), count(*), count(*) FILTER (WHERE version IS NULL)
FROM sbom_components LEFT JOIN packages ON packages.id = sbom_components.package_id
WHERE position > 0
GROUP BY 1, 2;

-- The last synchronization of advisories that the service ran itself: one row, so that at most one runs at a time.
CREATE TABLE advisory_sync_run (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  id text NOT NULL,
  started_at timestamptz NOT NULL,
  -- When the process that runs it was last seen; without a newer time it has died.
  seen_at timestamptz NOT NULL,
  -- How far it is, in words.
  progress text NOT NULL,
  -- null: it runs.
  ended_at timestamptz,
  -- Why it ended without having synchronized all ecosystems; null: it runs or did.
  failure text,
  -- What became of each ecosystem.
  results jsonb NOT NULL DEFAULT '[]'
);
