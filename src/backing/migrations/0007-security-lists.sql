-- Lists over a million findings: the number of rows and the start of each page are kept here and not counted again.
--
-- Statements only note what they change. When their transaction commits, it locks the lists of its workspaces in a fixed order and adds up
-- the notes. So lists are exact from commit to commit. A holder of these locks waits for no other lock, so nothing deadlocks, and holds
-- them only while it adds up.

-- How many findings a workspace, product or project has of each kind: at depth 0 those of a rank (slice ''), below it those whose id begins
-- with the slice. Ids begin with the time at which they were made, so slices are twelve days, a quarter of an hour, half a minute, and a
-- millisecond, since a scan writes thousands of findings within a second. So the page at any offset takes a few hundred rows to find,
-- however many findings there are and however old they are.
CREATE TABLE finding_buckets (
  scope_id text COLLATE "C" NOT NULL,
  depth smallint NOT NULL,
  rank smallint NOT NULL,
  slice text COLLATE "C" NOT NULL,
  status text NOT NULL,
  false_positive boolean NOT NULL,
  amount bigint NOT NULL,
  PRIMARY KEY (scope_id, depth, rank, slice, status, false_positive)
) WITH (fillfactor = 50);

-- Issues with live findings in a workspace, product or project: one row for each, as they are listed.
CREATE TABLE scope_vulnerabilities (
  scope_id text COLLATE "C" NOT NULL,
  vulnerability_id bigint NOT NULL,
  -- The product in which the row also counts. NULL: it is not a project's row, or the project has no product.
  workspace_id text COLLATE "C",
  product_id text COLLATE "C",
  -- The issue's name, which orders lists within a rank. Ties are ordered by the issue, since an issue that joined another kept its name.
  name text COLLATE "C" NOT NULL,
  -- The highest rank of its live findings.
  rank smallint NOT NULL,
  -- A bit for each ecosystem of its live findings.
  ecosystems smallint NOT NULL,
  findings bigint NOT NULL,
  projects bigint NOT NULL,
  -- The first of its live findings by rank and id, which the list shows.
  top_finding text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope_id, vulnerability_id)
) WITH (fillfactor = 80);
CREATE INDEX vulnerabilities_of_scope ON scope_vulnerabilities (scope_id, rank DESC, name, vulnerability_id);
-- All seven together are as large as the one above.
CREATE INDEX vulnerabilities_of_npm ON scope_vulnerabilities (scope_id, rank DESC, name, vulnerability_id) WHERE ecosystems & 1 <> 0;
CREATE INDEX vulnerabilities_of_pypi ON scope_vulnerabilities (scope_id, rank DESC, name, vulnerability_id) WHERE ecosystems & 2 <> 0;
CREATE INDEX vulnerabilities_of_maven ON scope_vulnerabilities (scope_id, rank DESC, name, vulnerability_id) WHERE ecosystems & 4 <> 0;
CREATE INDEX vulnerabilities_of_go ON scope_vulnerabilities (scope_id, rank DESC, name, vulnerability_id) WHERE ecosystems & 8 <> 0;
CREATE INDEX vulnerabilities_of_cargo ON scope_vulnerabilities (scope_id, rank DESC, name, vulnerability_id) WHERE ecosystems & 16 <> 0;
CREATE INDEX vulnerabilities_of_rubygems ON scope_vulnerabilities (scope_id, rank DESC, name, vulnerability_id) WHERE ecosystems & 32 <> 0;
CREATE INDEX vulnerabilities_of_nuget ON scope_vulnerabilities (scope_id, rank DESC, name, vulnerability_id) WHERE ecosystems & 64 <> 0;
CREATE INDEX vulnerabilities_by_workspace ON scope_vulnerabilities (workspace_id, vulnerability_id, rank DESC, top_finding)
  WHERE workspace_id IS NOT NULL;
CREATE INDEX vulnerabilities_by_product ON scope_vulnerabilities (product_id, vulnerability_id, rank DESC, top_finding)
  WHERE product_id IS NOT NULL;

-- The same for them: slices are beginnings of names, such as `CVE-20`, `CVE-2024` and `CVE-2024-3`.
CREATE TABLE vulnerability_buckets (
  scope_id text COLLATE "C" NOT NULL,
  depth smallint NOT NULL,
  rank smallint NOT NULL,
  slice text COLLATE "C" NOT NULL,
  ecosystems smallint NOT NULL,
  amount bigint NOT NULL,
  PRIMARY KEY (scope_id, depth, rank, slice, ecosystems)
) WITH (fillfactor = 50);

CREATE FUNCTION ecosystem_bit(ecosystem text) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
  SELECT (1 << (array_position(ARRAY['npm', 'PyPI', 'Maven', 'Go', 'crates.io', 'RubyGems', 'NuGet'], ecosystem) - 1))::smallint
$$;

-- Notes of the transactions under way: the old row (-1), the new row (1), and a row to be checked again (0). A transaction leaves none. The
-- index skips dead rows of other transactions until it is vacuumed.
CREATE UNLOGGED TABLE finding_notes (
  finding_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  product_id text COLLATE "C",
  project_id text COLLATE "C" NOT NULL,
  vulnerability_id bigint NOT NULL,
  status text NOT NULL,
  false_positive boolean NOT NULL,
  rank smallint NOT NULL,
  change smallint NOT NULL,
  -- One row of each statement triggers adding up at the commit.
  wakes boolean NOT NULL,
  transaction xid8 NOT NULL DEFAULT pg_current_xact_id()
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE INDEX finding_notes_by_transaction ON finding_notes (transaction);

CREATE UNLOGGED TABLE scope_notes (
  scope_id text COLLATE "C" NOT NULL,
  vulnerability_id bigint NOT NULL,
  workspace_id text COLLATE "C",
  product_id text COLLATE "C",
  name text COLLATE "C" NOT NULL,
  rank smallint NOT NULL,
  ecosystems smallint NOT NULL,
  findings bigint NOT NULL,
  change smallint NOT NULL,
  transaction xid8 NOT NULL DEFAULT pg_current_xact_id()
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE INDEX scope_notes_by_transaction ON scope_notes (transaction);

CREATE VIEW finding_changes AS SELECT * FROM finding_notes WHERE transaction = pg_current_xact_id();
CREATE VIEW scope_changes AS SELECT * FROM scope_notes WHERE transaction = pg_current_xact_id();

-- Notes of both kinds of rows by bucket.
CREATE VIEW finding_bucket_changes AS
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

CREATE VIEW vulnerability_bucket_changes AS
  SELECT scope_id, depth, rank, slice, ecosystems, sum(change) AS change
  FROM scope_changes
  CROSS JOIN LATERAL (VALUES (0::smallint, ''), (1, left(name, 6)), (2, left(name, 8)), (3, left(name, 10))) AS slices (depth, slice)
  GROUP BY scope_id, depth, rank, slice, ecosystems
  HAVING sum(change) <> 0;

-- Changed project rows, for the workspace and the product in which they count.
CREATE VIEW wider_scope_changes AS
  SELECT wider.id AS scope_id, vulnerability_id, sum(change) AS projects, sum(change * findings) AS findings,
    coalesce(bit_or(ecosystems) FILTER (WHERE change > 0), 0::smallint) AS ecosystems
  FROM scope_changes CROSS JOIN LATERAL (VALUES (workspace_id), (product_id)) AS wider (id)
  WHERE wider.id IS NOT NULL
  GROUP BY wider.id, vulnerability_id;

CREATE FUNCTION note_finding_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO finding_notes
    SELECT id, workspace_id, product_id, project_id, vulnerability_id, status, false_positive, rank, 1, row_number() OVER () = 1
    FROM new_rows;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO finding_notes
    SELECT id, workspace_id, product_id, project_id, vulnerability_id, status, false_positive, rank, -1, row_number() OVER () = 1
    FROM old_rows;
  ELSE
    -- Rows whose noted fields are unchanged cancel out.
    INSERT INTO finding_notes
    SELECT id, workspace_id, product_id, project_id, vulnerability_id, status, false_positive, rank, sum(change), row_number() OVER () = 1
    FROM (SELECT *, -1 AS change FROM old_rows UNION ALL SELECT *, 1 FROM new_rows) AS images
    GROUP BY id, workspace_id, product_id, project_id, vulnerability_id, status, false_positive, rank
    HAVING sum(change) <> 0;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER note_inserted AFTER INSERT ON findings
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_finding_changes();
CREATE TRIGGER note_updated AFTER UPDATE ON findings
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_finding_changes();
CREATE TRIGGER note_deleted AFTER DELETE ON findings
  REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_finding_changes();

-- Issues that got another name move in their lists.
CREATE FUNCTION note_renamed_vulnerabilities() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO finding_notes
  SELECT findings.id, workspace_id, product_id, project_id, vulnerability_id, status, false_positive, rank, 0, row_number() OVER () = 1
  FROM (SELECT id, name FROM new_rows EXCEPT SELECT id, name FROM old_rows) AS renamed
  JOIN findings ON findings.vulnerability_id = renamed.id AND findings.live;
  RETURN NULL;
END
$$;
CREATE TRIGGER note_renamed AFTER UPDATE ON vulnerabilities
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_renamed_vulnerabilities();

CREATE FUNCTION note_scope_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO scope_notes
    SELECT scope_id, vulnerability_id, workspace_id, product_id, name, rank, ecosystems, findings, -1 FROM old_rows;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO scope_notes
    SELECT scope_id, vulnerability_id, workspace_id, product_id, name, rank, ecosystems, findings, 1 FROM new_rows;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER note_inserted AFTER INSERT ON scope_vulnerabilities
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_scope_changes();
CREATE TRIGGER note_updated AFTER UPDATE ON scope_vulnerabilities
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_scope_changes();
CREATE TRIGGER note_deleted AFTER DELETE ON scope_vulnerabilities
  REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_scope_changes();

-- An occurrence copies its finding. The finding is locked meanwhile, so the next change sees the occurrence.
CREATE FUNCTION fill_in_occurrence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT status, false_positive, rank INTO NEW.status, NEW.false_positive, NEW.rank
  FROM findings WHERE id = NEW.finding_id FOR NO KEY UPDATE;
  RETURN NEW;
END
$$;
CREATE TRIGGER fill_in BEFORE INSERT ON finding_sboms FOR EACH ROW EXECUTE FUNCTION fill_in_occurrence();

CREATE FUNCTION add_up_occurrences() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE finding_sboms SET status = findings.status, false_positive = findings.false_positive, rank = findings.rank
  FROM findings
  WHERE findings.id = finding_sboms.finding_id
    AND findings.id IN (SELECT finding_id FROM finding_changes WHERE change < 0)
    AND (finding_sboms.status, finding_sboms.false_positive, finding_sboms.rank)
      IS DISTINCT FROM (findings.status, findings.false_positive, findings.rank);
END
$$;

CREATE FUNCTION add_up_finding_buckets() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO finding_buckets AS kept
  SELECT * FROM finding_bucket_changes ORDER BY scope_id, depth, rank, slice, status, false_positive
  ON CONFLICT (scope_id, depth, rank, slice, status, false_positive) DO UPDATE SET amount = kept.amount + excluded.amount;
  DELETE FROM finding_buckets AS kept USING finding_bucket_changes AS changed
  WHERE (kept.scope_id, kept.depth, kept.rank, kept.slice, kept.status, kept.false_positive)
    = (changed.scope_id, changed.depth, changed.rank, changed.slice, changed.status, changed.false_positive) AND kept.amount = 0;
END
$$;

-- The rows of projects, rebuilt from their live findings.
CREATE FUNCTION add_up_project_vulnerabilities() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO scope_vulnerabilities AS kept
    (scope_id, vulnerability_id, workspace_id, product_id, name, rank, ecosystems, findings, projects, top_finding)
  SELECT project_id, vulnerability_id, place.workspace_id, place.product_id, name, place.rank, seen.ecosystems, seen.findings, 1, place.id
  FROM (SELECT DISTINCT project_id, vulnerability_id FROM finding_changes) AS changed
  JOIN vulnerabilities ON vulnerabilities.id = vulnerability_id
  CROSS JOIN LATERAL (
    SELECT id, workspace_id, product_id, rank FROM findings
    WHERE findings.project_id = changed.project_id AND findings.vulnerability_id = changed.vulnerability_id AND live
    ORDER BY rank DESC, id LIMIT 1
  ) AS place
  CROSS JOIN LATERAL (
    SELECT count(*) AS findings, bit_or(ecosystem_bit(ecosystem)) AS ecosystems
    FROM findings JOIN packages ON packages.id = package_id
    WHERE findings.project_id = changed.project_id AND findings.vulnerability_id = changed.vulnerability_id AND live
  ) AS seen
  ON CONFLICT (scope_id, vulnerability_id) DO UPDATE SET
    workspace_id = excluded.workspace_id, product_id = excluded.product_id, name = excluded.name, rank = excluded.rank,
    ecosystems = excluded.ecosystems, findings = excluded.findings, top_finding = excluded.top_finding
  WHERE (kept.product_id, kept.name, kept.rank, kept.ecosystems, kept.findings, kept.top_finding) IS DISTINCT FROM
    (excluded.product_id, excluded.name, excluded.rank, excluded.ecosystems, excluded.findings, excluded.top_finding);
  DELETE FROM scope_vulnerabilities AS kept
  USING (SELECT DISTINCT project_id, vulnerability_id FROM finding_changes WHERE change < 0) AS changed
  WHERE kept.scope_id = changed.project_id AND kept.vulnerability_id = changed.vulnerability_id
    AND NOT EXISTS (
      SELECT FROM findings
      WHERE findings.project_id = changed.project_id AND findings.vulnerability_id = changed.vulnerability_id AND live);
END
$$;

-- The rows of workspaces and products, rebuilt from the rows of their projects.
CREATE FUNCTION add_up_wider_vulnerabilities() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO scope_vulnerabilities AS kept (scope_id, vulnerability_id, name, rank, ecosystems, findings, projects, top_finding)
  SELECT changed.scope_id, changed.vulnerability_id, vulnerabilities.name, top.rank, changed.ecosystems, changed.findings,
    changed.projects, top.top_finding
  FROM wider_scope_changes AS changed
  JOIN vulnerabilities ON vulnerabilities.id = changed.vulnerability_id
  -- A scope is a workspace or a product, so one of the two finds nothing.
  CROSS JOIN LATERAL (
    (SELECT rank, top_finding FROM scope_vulnerabilities AS own
      WHERE own.workspace_id = changed.scope_id AND own.vulnerability_id = changed.vulnerability_id
      ORDER BY rank DESC, top_finding LIMIT 1)
    UNION ALL
    (SELECT rank, top_finding FROM scope_vulnerabilities AS own
      WHERE own.product_id = changed.scope_id AND own.vulnerability_id = changed.vulnerability_id
      ORDER BY rank DESC, top_finding LIMIT 1)
  ) AS top
  ON CONFLICT (scope_id, vulnerability_id) DO UPDATE SET
    name = excluded.name, rank = excluded.rank, findings = kept.findings + excluded.findings,
    projects = kept.projects + excluded.projects, top_finding = excluded.top_finding,
    -- A single bit stays while there is any finding; of several bits, each may be obsolete.
    ecosystems = CASE (kept.ecosystems | excluded.ecosystems) & ((kept.ecosystems | excluded.ecosystems) - 1)
      WHEN 0 THEN kept.ecosystems | excluded.ecosystems
      ELSE (SELECT bit_or(ecosystems) FROM (
        SELECT own.ecosystems FROM scope_vulnerabilities AS own
        WHERE own.workspace_id = excluded.scope_id AND own.vulnerability_id = excluded.vulnerability_id
        UNION ALL
        SELECT own.ecosystems FROM scope_vulnerabilities AS own
        WHERE own.product_id = excluded.scope_id AND own.vulnerability_id = excluded.vulnerability_id
      ) AS own) END;
  DELETE FROM scope_vulnerabilities AS kept USING wider_scope_changes AS changed
  WHERE kept.scope_id = changed.scope_id AND kept.vulnerability_id = changed.vulnerability_id
    AND NOT EXISTS (
      SELECT FROM scope_vulnerabilities AS own
      WHERE own.workspace_id = changed.scope_id AND own.vulnerability_id = changed.vulnerability_id)
    AND NOT EXISTS (
      SELECT FROM scope_vulnerabilities AS own
      WHERE own.product_id = changed.scope_id AND own.vulnerability_id = changed.vulnerability_id);
END
$$;

CREATE FUNCTION add_up_vulnerability_buckets() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO vulnerability_buckets AS kept
  SELECT * FROM vulnerability_bucket_changes ORDER BY scope_id, depth, rank, slice, ecosystems
  ON CONFLICT (scope_id, depth, rank, slice, ecosystems) DO UPDATE SET amount = kept.amount + excluded.amount;
  DELETE FROM vulnerability_buckets AS kept USING vulnerability_bucket_changes AS changed
  WHERE (kept.scope_id, kept.depth, kept.rank, kept.slice, kept.ecosystems)
    = (changed.scope_id, changed.depth, changed.rank, changed.slice, changed.ecosystems) AND kept.amount = 0;
END
$$;

-- A waiter here waits for other transactions to add up, as long as a statement may take.
CREATE FUNCTION add_up_lists() RETURNS trigger LANGUAGE plpgsql
SET lock_timeout = 0 SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(lock)
  FROM (SELECT DISTINCT hashtextextended('lists ' || workspace_id, 0) AS lock FROM finding_changes ORDER BY lock) AS locks;
  -- The first trigger at the commit has already added up the notes of all statements.
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM add_up_occurrences();
  PERFORM add_up_finding_buckets();
  PERFORM add_up_project_vulnerabilities();
  PERFORM add_up_wider_vulnerabilities();
  PERFORM add_up_vulnerability_buckets();
  DELETE FROM finding_notes WHERE transaction = pg_current_xact_id();
  DELETE FROM scope_notes WHERE transaction = pg_current_xact_id();
  RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER add_up AFTER INSERT ON finding_notes
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.wakes) EXECUTE FUNCTION add_up_lists();

CREATE FUNCTION clear_lists() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE finding_buckets, scope_vulnerabilities, vulnerability_buckets;
  DELETE FROM finding_notes WHERE transaction = pg_current_xact_id();
  RETURN NULL;
END
$$;
CREATE TRIGGER clear_lists AFTER TRUNCATE ON findings FOR EACH STATEMENT EXECUTE FUNCTION clear_lists();
