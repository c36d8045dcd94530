-- When the first synchronization of the ecosystem began to send records, while it has not ended; until then the ecosystem is not known. null: it
-- ended, none has begun, or records came by hand before it.
ALTER TABLE advisory_ecosystems ADD COLUMN sync_began_at timestamptz;

-- Withdrawn records alone make no ecosystem known.
UPDATE advisory_ecosystems SET imported_at = NULL, newest_record = NULL
WHERE NOT EXISTS (
  SELECT FROM packages
  JOIN affected_packages ON affected_packages.package_id = packages.id
  JOIN advisories ON advisories.id = affected_packages.advisory_id
  WHERE packages.ecosystem = advisory_ecosystems.ecosystem AND NOT withdrawn);
