-- How old is what is known of each ecosystem. A row comes with the first record of its ecosystem or its first synchronization.
CREATE TABLE advisory_ecosystems (
  ecosystem text COLLATE "C" PRIMARY KEY
    CHECK (ecosystem IN ('npm', 'PyPI', 'Maven', 'Go', 'crates.io', 'RubyGems', 'NuGet')),
  -- When a record about it was sent last, changed or not; null: never.
  imported_at timestamptz,
  -- The newest `modified` of its records; null: none was imported since this table exists.
  newest_record timestamptz,
  -- When its published archive was last compared; with the archive's ETag and its Last-Modified. null: never.
  synced_at timestamptz,
  etag text,
  published_at timestamptz
);

INSERT INTO advisory_ecosystems (ecosystem, imported_at)
SELECT packages.ecosystem, max(advisories.imported_at)
FROM affected_packages
JOIN packages ON packages.id = affected_packages.package_id
JOIN advisories ON advisories.id = affected_packages.advisory_id
GROUP BY packages.ecosystem;
