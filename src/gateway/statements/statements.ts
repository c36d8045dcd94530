/**
 * Reads statements: the closed ones as they were stored, and the open one, summed again from its slice. Members see months without amounts,
 * which are the workspace's, and the lines of their own keys; overseers see all. The open statement of two million charges takes 4.7 s,
 * since it is summed from the charges: only they hold the price tier.
 */
import { type Actor, ownerSeenBy } from "../../accounts/audit/actor.ts";
import { DomainError } from "../../accounts/errors.ts";
import { selectCallerIds } from "../../accounts/keys/store.ts";
import { type Database, type Transaction, allowStatements } from "../../backing/backing.ts";
import { isoTime, type Clock, type Month, monthBounds, monthOf } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd, parseUsd } from "../../kernel/money.ts";
import { statementReadMsMax } from "../limits.ts";
import { keepMonths } from "../metering/verify-store.ts";
import { monthAfter } from "./close.ts";
import { composeStatement, linesOf, sumSlice } from "./compose.ts";
import {
  type StatementList,
  type StatementRow,
  parseDocument,
  type StatementDocument,
  type StatementView,
  type Line,
} from "./schema.ts";
import { referenceOf } from "./parties.ts";
import { preferHashes, selectFirstEntry, selectHead, type Slice } from "./slice-store.ts";
import { selectSumsOf, type StatementSums, selectDocument, selectLast } from "./store.ts";

/**
 * Newest first, the open one before all others. Members see months without amounts, which are the workspace's.
 * @param before only months before this one; null: from the open one
 * @throws DomainError not_found where statements are off
 */
export async function listStatements(
  { actor, workspace, before, limit }: { actor: Actor; workspace: StatementWorkspace; before: Month | null; limit: number },
  { sql, clock }: { sql: Database; clock: Clock },
): Promise<StatementList> {
  requireStatements(workspace);
  const seesAmounts = ownerSeenBy(actor) === null;
  const stored = await selectSumsOf({ workspace: workspace.id, before, limit: limit + 1 }, sql);
  const closed = stored.slice(0, limit).map(({ closedAt, sha256, ...sums }): StatementRow => ({
    number: sums.number,
    closed: true,
    closed_at: isoTime(closedAt.getTime()),
    ...(seesAmounts && { ...amounts(sums), sha256 }),
  }));
  const next = stored.length > limit ? (closed.at(-1)?.number ?? null) : null;
  if (before !== null) return { data: closed, next };
  const { id, name } = workspace;
  const open = await sumOpen({ workspace: { id, name }, nowMs: clock.now() }, sql);
  const first: StatementRow = {
    number: open.number,
    closed: false,
    closed_at: null,
    ...(seesAmounts && { ...amounts(open), sha256: null }),
  };
  return { data: [first, ...closed], next };
}

/**
 * The statement of a month: members see the lines of their own keys, overseers all.
 * @throws DomainError not_found
 */
export async function showStatement(
  { actor, workspace, number }: { actor: Actor; workspace: StatementWorkspace; number: Month },
  { sql, clock }: { sql: Database; clock: Clock },
): Promise<StatementView> {
  requireStatements(workspace);
  const owner = ownerSeenBy(actor);
  const stored = await selectDocument({ workspace: workspace.id, number }, sql);
  if (stored) return viewClosed({ document: parseDocument(stored.document), sha256: stored.sha256, owner });
  const { id, name } = workspace;
  const open = await showOpen({ workspace: { id, name }, number, owner, nowMs: clock.now() }, sql);
  if (open !== null) return open;
  throw new DomainError("not_found", `There is no statement "${number}" of this workspace`, { field: "number" });
}

function amounts({ opening, credits, refunds, charges, closing }: StatementSums): Partial<StatementRow> {
  return {
    opening_balance_usd: formatUsd(opening),
    credits_usd: formatUsd(credits),
    refunds_usd: formatUsd(refunds),
    charges_usd: formatUsd(charges),
    closing_balance_usd: formatUsd(closing),
  };
}

interface Closed {
  document: StatementDocument;
  sha256: string;
  owner: string | null;
}

function viewClosed({ document, sha256, owner }: Closed): StatementView {
  if (owner === null) return { ...document, closed: true, sha256 };
  const { number, reference, workspace, period, closed_at: closedAt, lines } = document;
  return {
    number,
    reference,
    workspace,
    period,
    closed: true,
    closed_at: closedAt,
    ...ownLines(lines.filter(({ member }) => member === owner)),
  };
}

// The open statement

interface Asked {
  workspace: { id: WorkspaceId; name: string };
  nowMs: number;
}

/** The month after the last closed one; in a new workspace the month of its first entry, or the current one. */
async function openSlice({ workspace: { id }, nowMs }: Asked, tx: Transaction): Promise<Slice> {
  const last = await selectLast(id, tx);
  const to = await selectHead(id, tx);
  if (last !== undefined) return { workspace: id, month: monthAfter(last.number), from: last.to + 1n, to };
  const first = await selectFirstEntry(id, tx);
  return { workspace: id, month: monthOf(first?.getTime() ?? nowMs), from: 1n, to };
}

function inSnapshot<Result>(sql: Database, read: (tx: Transaction) => Promise<Result>): Promise<Result> {
  return sql.begin("isolation level repeatable read read only", async (tx) => {
    await keepMonths(tx);
    await allowStatements(statementReadMsMax, tx);
    await preferHashes(tx);
    return read(tx);
  }) as Promise<Result>;
}

/** Its amounts, without reading any charge. */
function sumOpen(asked: Asked, sql: Database): Promise<StatementSums> {
  return inSnapshot(sql, async (tx) => {
    const slice = await openSlice(asked, tx);
    return { number: slice.month, ...(await sumSlice(slice, tx)) };
  });
}

/**
 * @param owner sees only the lines of their keys and Workbench; null: sees the whole workspace
 * @returns null: the open statement is of another month
 */
function showOpen(
  { number, owner, ...asked }: Asked & { number: Month; owner: string | null },
  sql: Database,
): Promise<StatementView | null> {
  return inSnapshot(sql, async (tx) => {
    const slice = await openSlice(asked, tx);
    if (slice.month !== number) return null;
    const { workspace } = asked;
    if (owner === null) {
      const { document } = await composeStatement({ slice, workspaceName: workspace.name, nowMs: asked.nowMs }, tx);
      return { ...document, closed: false, closed_at: null, sha256: null };
    }
    const keys = await selectCallerIds({ workspace: workspace.id, owner }, tx);
    const { startMs, endMs } = monthBounds(number);
    const period = { from: isoTime(startMs), to: isoTime(endMs) };
    const reference = await referenceOf({ workspace: workspace.id, month: number }, tx);
    return { number, reference, workspace, period, closed: false, closed_at: null, ...ownLines(await linesOf(slice, keys, tx)) };
  });
}

/** A member's view of their own lines. */
function ownLines(lines: Line[]): Pick<StatementView, "charges_usd" | "lines"> {
  return { charges_usd: formatUsd(lines.reduce((sum, { cost_usd: cost }) => sum + parseUsd(cost), 0n)), lines };
}

interface StatementWorkspace {
  id: WorkspaceId;
  name: string;
  earlyAccess: string[];
}

/** Statements close in every workspace, so that one that switches them on has the earlier ones. @throws DomainError not_found */
function requireStatements({ earlyAccess }: StatementWorkspace): void {
  if (earlyAccess.includes("usage_statements")) return;
  throw new DomainError(
    "not_found",
    "Usage statements are not switched on for the workspace: the operator adds usage_statements to early_access",
  );
}

/** The texts of all closed statements, newest first; null where statements are off. */
export function closedTexts(
  { id: workspace, earlyAccess }: StatementWorkspace,
  sql: Database,
): AsyncGenerator<{ number: Month; document: string }, void> | null {
  if (!earlyAccess.includes("usage_statements")) return null;
  return (async function* () {
    for (let before: Month | null = null; ;) {
      const page: StatementSums[] = await selectSumsOf({ workspace, before, limit: closedTextsPage }, sql);
      for (const { number } of page) {
        const stored = await selectDocument({ workspace, number }, sql);
        if (stored) yield { number, document: stored.document };
      }
      before = page.at(-1)?.number ?? null;
      if (page.length < closedTextsPage) return;
    }
  })();
}

const closedTextsPage = 100;
