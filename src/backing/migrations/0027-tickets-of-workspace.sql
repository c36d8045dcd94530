-- The list of all tickets of a workspace, newest first.
CREATE INDEX tickets_of_workspace ON tickets (workspace_id, created_at DESC, id DESC);
