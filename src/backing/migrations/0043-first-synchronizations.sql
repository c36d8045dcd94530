-- When the first synchronization of the ecosystem began to send records, while it has not ended; until then the ecosystem is not known. null: it
-- ended, none has begun, or records came by hand before it.
ALTER TABLE advisory_ecosystems ADD COLUMN sync_began_at timestamptz;
