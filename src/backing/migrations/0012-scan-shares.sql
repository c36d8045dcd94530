-- Scans by slices of time, the least served workspace first; and former documents that are removed bit by bit.

ALTER TABLE projects
  -- When the scan under way began, or the last one: findings that it saw have this as their `last_seen`.
  ADD COLUMN scan_began_at timestamptz,
  -- How far the scan under way is; null: none is.
  ADD COLUMN scan_pass jsonb,
  -- What the scan under way has taken of scanners' time, and its place among the projects of its workspace that follows from it.
  ADD COLUMN scan_served_ms bigint NOT NULL DEFAULT 0,
  ADD COLUMN scan_level smallint NOT NULL DEFAULT 0,
  -- What the last scan found and did not write, for a project has no more than so many.
  ADD COLUMN findings_left_out integer NOT NULL DEFAULT 0,
  ADD COLUMN unknowns_left_out integer NOT NULL DEFAULT 0;
DROP INDEX projects_to_scan;
CREATE INDEX projects_to_scan ON projects (workspace_id, scan_level, scan_due_at, id) WHERE scan_status IN ('pending', 'scanning');

-- What each workspace had of scanners' time, fading: as of a moment.
CREATE TABLE scan_shares (
  workspace_id text COLLATE "C" PRIMARY KEY REFERENCES workspaces,
  served_ms double precision NOT NULL,
  at timestamptz NOT NULL
);

CREATE FUNCTION faded_share(served_ms double precision, since timestamptz, at timestamptz, fades_ms double precision)
RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(served_ms * exp(-least(greatest(extract(epoch FROM at - since)::double precision * 1000 / fades_ms, 0), 100)), 0)
$$;

-- The scan that saw it last: what none has seen since goes.
ALTER TABLE unknown_matches ADD COLUMN seen timestamptz NOT NULL DEFAULT '-infinity';

-- A document that is being removed is no project's any longer: the same bytes make a new one.
ALTER TABLE sboms ADD COLUMN removing boolean NOT NULL DEFAULT false;
ALTER TABLE sboms DROP CONSTRAINT sboms_project_id_sha256_key;
CREATE UNIQUE INDEX sboms_of_project ON sboms (project_id, sha256) WHERE NOT removing;
CREATE INDEX sboms_to_remove ON sboms (id) WHERE removing;
