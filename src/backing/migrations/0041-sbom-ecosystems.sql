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
