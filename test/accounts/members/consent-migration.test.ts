/** Memberships from before people were asked: nobody who works in a workspace loses it. */
import { expect, test } from "bun:test";
import { migrate } from "../../../src/backing/migrate.ts";
import { databases } from "../../support/servers/databases.ts";

interface Case {
  email: string;
  /** Whether they are in a second workspace too. */
  elsewhere: boolean;
  addedBy: { actor: string; carriedBy: string | null } | null;
  trace: "key" | "workbench" | "change" | "account" | "sign-in" | null;
  active: boolean;
  expected: string;
}

const admin = { actor: "admin@w", carriedBy: "session" };
const cases: Case[] = [
  {
    email: "by-operator",
    elsewhere: true,
    addedBy: { actor: "operator", carriedBy: null },
    trace: null,
    active: true,
    expected: "true given",
  },
  {
    email: "by-weir",
    elsewhere: true,
    addedBy: { actor: "weir", carriedBy: null },
    trace: null,
    active: true,
    expected: "true given",
  },
  {
    email: "by-command-line",
    elsewhere: true,
    addedBy: { actor: "admin@w", carriedBy: "operator token" },
    trace: null,
    active: true,
    expected: "true given",
  },
  { email: "before-the-log", elsewhere: true, addedBy: null, trace: null, active: true, expected: "true given" },
  { email: "with-a-key", elsewhere: true, addedBy: admin, trace: "key", active: true, expected: "true given" },
  { email: "in-the-workbench", elsewhere: true, addedBy: admin, trace: "workbench", active: true, expected: "true given" },
  { email: "changed-something", elsewhere: true, addedBy: admin, trace: "change", active: true, expected: "true given" },
  { email: "only-reads", elsewhere: false, addedBy: admin, trace: "sign-in", active: true, expected: "true given" },
  { email: "reads-elsewhere", elsewhere: true, addedBy: admin, trace: "sign-in", active: true, expected: "false asked" },
  // The person's password was recorded in each of their workspaces, also in those of strangers.
  { email: "set-a-password", elsewhere: true, addedBy: admin, trace: "account", active: true, expected: "false asked" },
  { email: "never-came", elsewhere: false, addedBy: admin, trace: null, active: true, expected: "false asked" },
  { email: "ended", elsewhere: true, addedBy: admin, trace: "key", active: false, expected: "false given" },
  { email: "ended-unseen", elsewhere: true, addedBy: admin, trace: null, active: false, expected: "false none" },
];

test.each(databases)("on $name who has worked in a workspace stays its member, and others are asked", async ({ openBefore }) => {
  await using database = await openBefore("0039");
  const { sql } = database;
  const at = new Date();
  await sql`INSERT INTO workspaces (id, name, created_at) VALUES ('w', 'w', ${at}), ('v', 'v', ${at})`;
  for (const { email, elsewhere, addedBy, trace, active } of cases) {
    await sql`INSERT INTO accounts (email, created_at) VALUES (${email}, ${at})`;
    await sql`INSERT INTO members (workspace_id, email, role, active, created_at) VALUES ('w', ${email}, 'member', ${active}, ${at})`;
    if (elsewhere) await sql`INSERT INTO members (workspace_id, email, role, created_at) VALUES ('v', ${email}, 'member', ${at})`;
    const record = (event: string, by: string, carriedBy: string | null, target: string) => sql`
      INSERT INTO audit_events (at, event, actor, role, carried_by, workspace_id, target, changes)
      VALUES (${at}, ${event}, ${by}, 'admin', ${carriedBy}, 'w', ${target}, '{}')`;
    if (addedBy) await record("workspace.member.added", addedBy.actor, addedBy.carriedBy, email);
    if (trace === "change") await record("product.created", email, "session", "product");
    if (trace === "account") await record("account.password.set", email, "session", email);
    if (trace === "key")
      await sql`
        INSERT INTO api_keys (id, workspace_id, owner_email, kind, name, hash, start, last_four, created_at)
        VALUES (${`key-${email}`}, 'w', ${email}, 'inference', 'key', sha256(${email}::bytea), 'start', 'last', ${at})`;
    if (trace === "workbench")
      await sql`
        INSERT INTO key_months (key_id, month, spent_nano, version)
        SELECT caller_id, '2026-11', 1, 1 FROM members WHERE workspace_id = 'w' AND email = ${email}`;
    if (trace === "sign-in")
      await sql`
        INSERT INTO sessions (id, token_hash, email, way, agent, created_at, proved_at, used_at)
        VALUES (${`ses-${email}`}, sha256(${email}::bytea), ${email}, 'password', '', ${at}, ${at}, ${at})`;
  }
  await migrate(sql);
  const rows = await sql<{ email: string; state: string; seen: boolean }[]>`
    SELECT email, active || ' ' || consent AS state, seen_at IS NOT NULL AS seen FROM members WHERE workspace_id = 'w'`;
  const states = Object.fromEntries(rows.map(({ email, state }) => [email, state]));
  expect(states).toEqual(Object.fromEntries(cases.map(({ email, expected }) => [email, expected])));
  // When somebody was seen is known only of who is in one workspace.
  expect(rows.filter(({ seen }) => seen).map(({ email }) => email)).toEqual(["only-reads"]);
});
