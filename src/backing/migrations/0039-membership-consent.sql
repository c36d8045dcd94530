-- A membership is in force only after its person has accepted it, and reaches into no other workspace.

ALTER TABLE members
  -- asked: it waits for the person. declined: the person refused. none: the workspace took the question back.
  ADD COLUMN consent text NOT NULL DEFAULT 'given' CHECK (consent IN ('given', 'asked', 'declined', 'none')),
  -- When the workspace last asked, and the admin who did; NULL: it never had to ask.
  ADD COLUMN asked_at timestamptz,
  ADD COLUMN asked_by text,
  -- When the person last used this workspace in the Console, to the minute.
  ADD COLUMN seen_at timestamptz;

-- Who works here today keeps the membership: who owns or owned a key here, spent in the Workbench, changed something here, or was added
-- with the operator token, by Weir itself or before additions were recorded. Reading leaves no trace of the workspace, so a person who has
-- signed in somewhere also keeps a membership that is their only one. All others were added by an admin and never came: they are asked,
-- which costs one click. A membership that was deactivated meanwhile is asked for only when an admin invites again.
WITH traces AS (
  SELECT workspace_id, owner_email AS email FROM api_keys
  UNION SELECT m.workspace_id, m.email FROM members m JOIN key_months k ON k.key_id = m.caller_id
  UNION SELECT workspace_id, actor FROM audit_events WHERE event NOT LIKE 'account.%'
), invited AS (
  SELECT DISTINCT ON (workspace_id, target) workspace_id, target AS email, actor, carried_by, at FROM audit_events
  WHERE event = 'workspace.member.added' ORDER BY workspace_id, target, id DESC
), signed_in AS (
  SELECT email FROM accounts WHERE password_hash IS NOT NULL
  UNION SELECT email FROM sessions
  UNION SELECT email FROM oidc_identities
)
UPDATE members AS m SET consent = CASE WHEN m.active THEN 'asked' ELSE 'none' END, active = false,
  asked_at = invited.at, asked_by = invited.actor
FROM invited
WHERE invited.workspace_id = m.workspace_id AND invited.email = m.email AND invited.actor NOT IN ('operator', 'weir')
  AND invited.carried_by IS DISTINCT FROM 'operator token'
  AND NOT EXISTS (SELECT FROM traces t WHERE t.workspace_id = m.workspace_id AND t.email = m.email)
  AND NOT (EXISTS (SELECT FROM signed_in s WHERE s.email = m.email)
    AND NOT EXISTS (SELECT FROM members other WHERE other.email = m.email AND other.workspace_id <> m.workspace_id));

ALTER TABLE members ADD CHECK (NOT active OR consent = 'given');

-- Sessions were of a person, not of a workspace: only who is in one workspace was surely seen there.
UPDATE members AS m SET seen_at = (SELECT max(used_at) FROM sessions s WHERE s.email = m.email)
WHERE m.consent = 'given' AND NOT EXISTS (SELECT FROM members other WHERE other.email = m.email AND other.workspace_id <> m.workspace_id);

-- The workspace of an invitation; NULL: the link is of no workspace. It ends with its invitation, and no other link does.
ALTER TABLE sign_in_links ADD COLUMN workspace_id text COLLATE "C" REFERENCES workspaces;
CREATE INDEX sign_in_links_of_account ON sign_in_links (email);

-- Whether a second factor was given too, or something stood for both: rights of admins need it.
ALTER TABLE sessions ADD COLUMN both_factors boolean NOT NULL DEFAULT false;
-- Until now an admin's session began with both, and ended when its person became an admin.
UPDATE sessions AS s SET both_factors = true
WHERE way IN ('operator token', 'oidc')
  OR EXISTS (SELECT FROM second_factors f WHERE f.email = s.email AND f.confirmed_at <= s.created_at)
  OR EXISTS (SELECT FROM members m WHERE m.email = s.email AND m.active AND m.role IN ('admin', 'super_admin'));

-- What a workspace may do a bounded number of times in an hour, with the times of the last hour.
CREATE TABLE hourly_acts (
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  act text COLLATE "C" NOT NULL,
  times timestamptz[] NOT NULL,
  PRIMARY KEY (workspace_id, act)
);
