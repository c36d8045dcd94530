-- What the quotas of a workspace are counted by.

CREATE INDEX tickets_by_workspace ON tickets (workspace_id, created_at DESC) INCLUDE (type);
CREATE INDEX ticket_attachments_by_workspace ON ticket_attachments (workspace_id) INCLUDE (size_bytes, ticket_id, created_at);

-- Characters of the rows of a document, which tell what it takes; of former documents an estimate.
ALTER TABLE sboms ADD COLUMN row_characters bigint NOT NULL DEFAULT 0;
UPDATE sboms SET row_characters = components * 300::bigint;
CREATE INDEX sboms_by_workspace ON sboms (workspace_id, created_at DESC) INCLUDE (row_characters);
