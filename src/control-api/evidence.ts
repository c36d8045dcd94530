/**
 * The evidence pack of a workspace, for those who audit it: who changed what, the members, the keys without their secrets, the closed
 * statements and the people of connections, each as a file, with the SHA-256 of every file.
 *
 * The audit log and closed statements never change, so a pack of the same times has the same files of both. Members and keys are those of
 * the moment. A statement's file is the text that was hashed when it closed, so its sum is the one that the statement shows. Files are made
 * one after another and bounded in rows; what a bound leaves out is said in README.txt. The sums are not signed: who needs to prove when a
 * pack was made keeps SHA256SUMS elsewhere.
 */
import { createHash } from "node:crypto";
import { Type } from "@sinclair/typebox";
import { type Actor, authorize, overseers } from "../accounts/audit/actor.ts";
import { listAudit, type AuditView } from "../accounts/audit/list.ts";
import { listKeys } from "../accounts/keys/keys.ts";
import { listMembers } from "../accounts/members/members.ts";
import { peopleOfWorkspace } from "../connectors/connections/people.ts";
import { peopleTable } from "../connectors/connections/schema.ts";
import { closedTexts } from "../gateway/statements/statements.ts";
import { csvText } from "../http/csv-response.ts";
import { text, textOrNull } from "../http/json-schema.ts";
import type { ZippedFile } from "../http/zip-response.ts";
import { isoTime } from "../kernel/clock.ts";
import type { WorkspaceId } from "../kernel/ids.ts";
import { auditRowsMax, evidenceAuditRowsMax, evidenceFileRowsMax, keyRowsMax, memberRowsMax } from "./limits.ts";
import type { ControlParts } from "./parts.ts";

export const EvidenceView = Type.Object({
  workspace_id: text("The workspace"),
  made_at: text("When it was made, ISO 8601 in UTC"),
  from: textOrNull("Changes and statements from this time on; null: from the first"),
  to: text("Changes and statements before this time"),
  files: Type.Array(
    Type.Object({
      name: text("Its name in the archive"),
      bytes: Type.Integer({ description: "Its size" }),
      sha256: text("Its SHA-256 in hexadecimal digits"),
    }),
    { description: "The files, in their order" },
  ),
});

export interface Evidence {
  actor: Actor;
  workspace: { id: WorkspaceId; name: string; earlyAccess: string[] };
  from: Date | null;
  to: Date;
}

type Sources = Pick<ControlParts, "sql" | "reads" | "clock">;

/**
 * Makes the files one after another, SHA256SUMS last.
 * @throws DomainError forbidden for members, with the first file
 */
export async function* evidenceFiles(asked: Evidence, sources: Sources): AsyncGenerator<ZippedFile, void> {
  authorize(asked.actor, { roles: overseers, action: "export the evidence" });
  const sums: string[] = [];
  const notes: string[] = [];
  for await (const { name, content } of contents(asked, notes, sources)) {
    const bytes = Buffer.from(content);
    sums.push(`${createHash("sha256").update(bytes).digest("hex")}  ${name}\n`);
    yield { name, bytes };
  }
  yield { name: "SHA256SUMS", bytes: Buffer.from(sums.join("")) };
}

/** What the archive has, with the sums of its files. */
export async function describeEvidence(asked: Evidence, sources: Sources) {
  const files = [];
  for await (const { name, bytes } of evidenceFiles(asked, sources))
    files.push({ name, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") });
  const { workspace, from, to } = asked;
  const times = { made_at: isoTime(sources.clock.now()), from: from && isoTime(from.getTime()), to: isoTime(to.getTime()) };
  return { workspace_id: workspace.id, ...times, files };
}

interface Content {
  name: string;
  content: string;
}

async function* contents(asked: Evidence, notes: string[], sources: Sources): AsyncGenerator<Content, void> {
  yield* auditFiles(asked, notes, sources);
  yield { name: "members.csv", content: await membersFile(asked, sources) };
  yield { name: "keys.csv", content: await keysFile(asked, sources) };
  yield* statementFiles(asked, notes, sources);
  for await (const { id, readAt, people } of peopleOfWorkspace(asked.workspace, sources.sql))
    yield { name: `people/${id}.csv`, content: csvText(peopleTable({ read_at: readAt, data: people })) };
  yield { name: "README.txt", content: readme(asked, notes, sources) };
}

const auditColumns = ["id", "at", "event", "actor", "role", "carried_by", "target", "changes"] as const;

/** Newest first, at most so many rows a file. */
async function* auditFiles(
  { workspace, from, to }: Evidence,
  notes: string[],
  { reads }: Sources,
): AsyncGenerator<Content, void> {
  const filter = { workspace: workspace.id, event: null, actor: null, target: null, from, to };
  let before: string | null = null;
  let rows: AuditView[] = [];
  let count = 0;
  let number = 0;
  const file = (): Content => ({
    name: `audit-${String(++number).padStart(4, "0")}.csv`,
    content: csvText({
      columns: auditColumns,
      rows: rows.map((row) => [...auditColumns.slice(0, -1).map((column) => cell(row[column])), JSON.stringify(row.changes)]),
    }),
  });
  for (;;) {
    const page: AuditView[] = await listAudit({ ...filter, before, limit: auditRowsMax }, reads);
    rows.push(...page);
    count += page.length;
    before = page.at(-1)?.id ?? null;
    const isLast = page.length < auditRowsMax || count >= evidenceAuditRowsMax;
    if (isLast && page.length === auditRowsMax)
      notes.push(
        `The audit files have the newest ${count} changes. For older ones, make a pack that ends at ${page.at(-1)?.at}.`,
      );
    if (isLast || rows.length >= evidenceFileRowsMax) {
      yield file();
      rows = [];
    }
    if (isLast) return;
  }
}

function cell(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

async function membersFile({ actor, workspace }: Evidence, sources: Sources): Promise<string> {
  const columns = [
    "email",
    "role",
    "state",
    "monthly_spend_limit_usd",
    "active_keys",
    "month_spent_usd",
    "last_seen_at",
  ] as const;
  const rows = [];
  for (let after: string | null = null; ;) {
    const page = { email: null, text: null, after, limit: memberRowsMax };
    const found: Awaited<ReturnType<typeof listMembers>> = await listMembers({ actor, workspace: workspace.id, page }, sources);
    rows.push(...found);
    after = found.at(-1)?.email ?? null;
    if (found.length < memberRowsMax) break;
  }
  return csvText({ columns, rows: rows.map((row) => columns.map((column) => row[column])) });
}

const keyColumns = [
  "id",
  "kind",
  "name",
  "masked",
  "owner",
  "monthly_spend_limit_usd",
  "daily_spend_limit_usd",
  "rate_limit_rpm",
  "created_at",
  "last_used_at",
  "revoked_at",
] as const;

/** Active and revoked ones, each in order of creation. */
async function keysFile({ actor, workspace }: Evidence, sources: Sources): Promise<string> {
  const rows = [];
  for (const revoked of [false, true]) {
    for (let after: string | null = null; ;) {
      const filter = { workspace: workspace.id, owner: null, revoked, nearLimit: false, text: null, after, limit: keyRowsMax };
      const found: Awaited<ReturnType<typeof listKeys>> = await listKeys({ actor, ...filter }, sources);
      rows.push(...found);
      after = found.at(-1)?.id ?? null;
      if (found.length < keyRowsMax) break;
    }
  }
  return csvText({ columns: keyColumns, rows: rows.map((row) => keyColumns.map((column) => row[column])) });
}

async function* statementFiles(
  { workspace, from, to }: Evidence,
  notes: string[],
  { sql }: Sources,
): AsyncGenerator<Content, void> {
  const closed = closedTexts(workspace, sql);
  if (closed === null) {
    notes.push("There are no statements: they are in early access, and off for this workspace.");
    return;
  }
  const monthOf = (at: Date): string => isoTime(at.getTime()).slice(0, 7);
  for await (const { number, document } of closed)
    if ((from === null || number >= monthOf(from)) && number <= monthOf(to))
      yield { name: `statements/${number}.json`, content: document };
}

function readme({ workspace, from, to }: Evidence, notes: readonly string[], { clock }: Sources): string {
  const since = from === null ? "the first change" : isoTime(from.getTime());
  return `Evidence pack of the workspace "${workspace.name}" (${workspace.id})

Made at ${isoTime(clock.now())} by Weir. Times are in UTC.

audit-*.csv        changes from ${since} to ${isoTime(to.getTime())}, newest first
members.csv        the members at that moment
keys.csv           the keys at that moment, without their secrets
statements/*.json  the closed statements of these months, as they were hashed
people/*.csv       who has an account at a connection's vendor, as it was last read; in early access
SHA256SUMS         the SHA-256 of every other file: sha256sum -c SHA256SUMS
${notes.map((note) => `\n${note}\n`).join("")}`;
}
