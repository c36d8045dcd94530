/** The statement that is still open: of the entries since the last one that closed. */
import { isoTime, monthBounds, monthOf, type Month } from "../../kernel/clock.ts";
import { type Database, type Transaction, allowStatements } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd, parseUsd } from "../../kernel/money.ts";
import { selectCallerIds } from "../../accounts/keys/store.ts";
import { statementReadMsMax } from "../limits.ts";
import { keepMonths } from "../metering/verify-store.ts";
import { monthAfter } from "./close.ts";
import { composeStatement, linesOf, sumSlice } from "./compose.ts";
import type { Line, StatementView } from "./schema.ts";
import { preferHashes, selectFirstEntry, selectHead, type Slice } from "./slice-store.ts";
import { selectLast, type StatementSums } from "./statements-store.ts";

interface Asked {
  workspace: { id: WorkspaceId; name: string };
  nowMs: number;
}

/** The month after the last closed one, of a new workspace that of its first entry, or the present one. */
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
export function sumOpen(asked: Asked, sql: Database): Promise<StatementSums> {
  return inSnapshot(sql, async (tx) => {
    const slice = await openSlice(asked, tx);
    return { number: slice.month, ...(await sumSlice(slice, tx)) };
  });
}

/**
 * @param owner sees only the lines of their keys and Workbench; null: sees the whole workspace
 * @returns null: the open statement is of another month
 */
export function showOpen(
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
    return { number, workspace, period, closed: false, closed_at: null, ...ownLines(await linesOf(slice, keys, tx)) };
  });
}

/** What a member sees of lines that are theirs. */
export function ownLines(lines: Line[]): Pick<StatementView, "charges_usd" | "lines"> {
  return { charges_usd: formatUsd(lines.reduce((sum, { cost_usd: cost }) => sum + parseUsd(cost), 0n)), lines };
}
