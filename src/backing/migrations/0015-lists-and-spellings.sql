-- Lists of what has no severity. Their order: an issue without a severity has a rank from 1 to 999, the month in which the first of
-- its records was published, counted from January 1999 (1), so that the newest come first. 0 is left for what nobody published at a
-- known time, and for a score of 0.0. And their pages: a scan writes thousands of findings within a second, hence slices of a rank
-- go down to the millisecond of an id, which is that of the batch that wrote the finding.

CREATE OR REPLACE VIEW finding_bucket_changes AS
  SELECT scope_id, depth, rank, slice, status, false_positive, sum(change) AS change
  FROM (
    SELECT workspace_id, product_id, project_id, rank, status, false_positive, left(finding_id, 13) AS finest, sum(change) AS change
    FROM finding_changes
    GROUP BY workspace_id, product_id, project_id, rank, status, false_positive, finest
    HAVING sum(change) <> 0
  ) AS changed
  CROSS JOIN LATERAL (VALUES (workspace_id), (product_id), (project_id)) AS scopes (scope_id)
  CROSS JOIN LATERAL (
    VALUES (0::smallint, ''), (1, left(finest, 7)), (2, left(finest, 9)), (3, left(finest, 10)), (4, finest)
  ) AS slices (depth, slice)
  WHERE scope_id IS NOT NULL
  GROUP BY scope_id, depth, rank, slice, status, false_positive
  HAVING sum(change) <> 0;

-- Everything that is kept for lists follows at once, without notes of each finding.
ALTER TABLE vulnerabilities DISABLE TRIGGER note_renamed;
ALTER TABLE findings DISABLE TRIGGER note_updated;
ALTER TABLE scope_vulnerabilities DISABLE TRIGGER note_updated;

WITH published AS (
  SELECT names.vulnerability_id AS id, min(advisories.record ->> 'published') AS at
  FROM vulnerability_names AS names
  JOIN vulnerabilities ON vulnerabilities.id = names.vulnerability_id
  JOIN advisories ON advisories.id = names.name AND (vulnerabilities.withdrawn OR NOT advisories.withdrawn)
  WHERE vulnerabilities.severity IS NULL AND vulnerabilities.score IS NULL
    AND advisories.record ->> 'published' ~ '^[0-9]{4}-[0-9]{2}-'
  GROUP BY names.vulnerability_id
)
UPDATE vulnerabilities
SET rank = least(999, greatest(1, (substr(at, 1, 4)::integer - 1999) * 12 + substr(at, 6, 2)::integer))
FROM published WHERE published.id = vulnerabilities.id;

UPDATE findings SET rank = vulnerabilities.rank
FROM vulnerabilities WHERE vulnerabilities.id = vulnerability_id AND findings.rank <> vulnerabilities.rank;
UPDATE finding_sboms SET rank = findings.rank
FROM findings WHERE findings.id = finding_id AND finding_sboms.rank <> findings.rank;
-- All findings of an issue have its rank: the first of them is the same as before.
UPDATE scope_vulnerabilities SET rank = vulnerabilities.rank
FROM vulnerabilities WHERE vulnerabilities.id = vulnerability_id AND scope_vulnerabilities.rank <> vulnerabilities.rank;

TRUNCATE finding_buckets, vulnerability_buckets;
INSERT INTO finding_buckets (scope_id, depth, rank, slice, status, false_positive, amount)
SELECT scope_id, depth, rank, slice, status, false_positive, sum(amount)
FROM (
  SELECT workspace_id, product_id, project_id, rank, status, false_positive, left(id, 13) AS finest, count(*) AS amount
  FROM findings GROUP BY workspace_id, product_id, project_id, rank, status, false_positive, finest
) AS counted
CROSS JOIN LATERAL (VALUES (workspace_id), (product_id), (project_id)) AS scopes (scope_id)
CROSS JOIN LATERAL (
  VALUES (0::smallint, ''), (1, left(finest, 7)), (2, left(finest, 9)), (3, left(finest, 10)), (4, finest)
) AS slices (depth, slice)
WHERE scope_id IS NOT NULL
GROUP BY scope_id, depth, rank, slice, status, false_positive;
INSERT INTO vulnerability_buckets (scope_id, depth, rank, slice, ecosystems, amount)
SELECT scope_id, depth, rank, slice, ecosystems, count(*)
FROM scope_vulnerabilities
CROSS JOIN LATERAL (VALUES (0::smallint, ''), (1, left(name, 6)), (2, left(name, 8)), (3, left(name, 10))) AS slices (depth, slice)
GROUP BY scope_id, depth, rank, slice, ecosystems;

ALTER TABLE vulnerabilities ENABLE TRIGGER note_renamed;
ALTER TABLE findings ENABLE TRIGGER note_updated;
ALTER TABLE scope_vulnerabilities ENABLE TRIGGER note_updated;

-- Go tells modules apart by case, package URLs of Go in their canonical form do not. What records say of a module counts for it; of
-- one that no record spells so, what they say of those that differ by case alone: so both spellings find it, and of two modules that
-- differ by case alone each finds its own.
CREATE INDEX packages_by_spelling ON packages (lower(key)) WHERE ecosystem = 'Go';
CREATE VIEW package_records (package_id, told_of) AS
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
