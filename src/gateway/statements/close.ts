/**
 * Closes the statements of months that are over: in every process that meters, once a minute, or at once by `statement close`. The first to
 * take a workspace's lock closes its month, and the others find it closed. A month closes at the earliest 25 minutes after its end, once no
 * request of it is open and metering does not lag; a charge that comes later is in the next statement. Statements close in every workspace
 * with a ledger, even where `usage_statements` is off, so that a workspace that switches them on later has the earlier months. A statement
 * that does not add up stays open and raises the alarm `statement.contradicted`. A month of two million charges closed in 3.7 s with
 * PostgreSQL, on two busy cores. In embedded mode everything else waits meanwhile.
 */
import { type Database, type Transaction, allowStatements } from "../../backing/backing.ts";
import type { Bus, Notification } from "../../backing/bus.ts";
import type { Counters } from "../../backing/counters.ts";
import { errorCode } from "../../kernel/error-code.ts";
import { raiseAlarm } from "../../kernel/metrics.ts";
import { monthBounds, monthOf, previousMonth, type Clock, type Month, sleep } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import * as limits from "../limits.ts";
import { keepMonths } from "../metering/verify-store.ts";
import { composeStatement, ContradictionError } from "./compose.ts";
import { hashedDocument, type ClosingView } from "./schema.ts";
import { preferHashes, selectSliceEnd } from "./slice-store.ts";
import { becomeCloser, insertStatement, selectDue, selectLast, selectName, type DueWorkspace } from "./store.ts";

export interface ClosingParts {
  sql: Database;
  bus: Pick<Bus, "backlog" | "listen">;
  counters: Pick<Counters, "holds">;
  clock: Clock;
  log: Logger;
}

/** Until disposed. A notification of `statements-due` starts a round at once. */
export function startClosing(parts: ClosingParts): AsyncDisposable {
  const { bus, clock, log } = parts;
  let settled: Month | null = null;
  return repeatUntilStopped({
    clock,
    async round(signal) {
      // Nothing becomes due until the next month has ended, so idle rounds query nothing.
      const month = lastDueMonth(clock.now());
      if (month !== settled && (await closeStatements(parts, { signal })) === 0) settled = month;
    },
    everyMs: limits.statementCheckMs,
    wakeOn: (wake) =>
      bus.listen("statements-due", () => {
        settled = null;
        wake();
      }),
    onError: (error) => log.warn({ event: "statements.failed", reason: String(error) }, "Statements could not be closed"),
  });
}

/** One round. @returns how many workspaces have to wait */
export async function closeStatements(parts: ClosingParts, { signal }: { signal?: AbortSignal } = {}): Promise<number> {
  const { sql, clock } = parts;
  const month = lastDueMonth(clock.now());
  const due = { month, monthEnd: new Date(monthBounds(month).endMs), workspace: null, limit: limits.statementsDueMax };
  let waiting = 0;
  let lags: boolean | null = null;
  for (let after = ""; ;) {
    const workspaces = await selectDue({ ...due, after }, sql);
    const last = workspaces.at(-1);
    if (last === undefined) return waiting;
    after = last.workspace;
    lags ??= await mustWait(parts);
    for (const one of workspaces) {
      if (signal?.aborted) return waiting + 1;
      if (lags || !(await closeWorkspace(one, month, parts))) waiting++;
    }
  }
}

export function monthAfter(month: Month): Month {
  return monthOf(monthBounds(month).endMs);
}

/** The last month whose statements may be closed. */
function lastDueMonth(nowMs: number): Month {
  return previousMonth(monthOf(nowMs - limits.statementWaitMs));
}

/** Whether metering lags. */
async function mustWait({ bus }: ClosingParts): Promise<boolean> {
  return (await bus.backlog("settlements")).messages > limits.statementBacklogMax;
}

/** Closes its months up to this one. Never rejects, so that a failure of one workspace does not affect others. @returns whether it could */
async function closeWorkspace(
  { workspace, last, firstEntryAt }: DueWorkspace,
  month: Month,
  parts: ClosingParts,
): Promise<boolean> {
  try {
    const holds = await parts.counters.holds(workspace);
    let next = last === null ? monthOf(firstEntryAt.getTime()) : monthAfter(last);
    for (; next <= month; next = monthAfter(next)) {
      const closing = next;
      if (holds.some((hold) => hold.month <= closing) || !(await closeMonth({ workspace, month: closing }, parts))) return false;
    }
    return true;
  } catch (error) {
    report(error, workspace, parts.log);
    return false;
  }
}

/** @returns whether it is closed; false: another process is closing it */
async function closeMonth({ workspace, month }: { workspace: WorkspaceId; month: Month }, parts: ClosingParts): Promise<boolean> {
  const { sql, clock, log } = parts;
  try {
    const closed = (await sql.begin("isolation level repeatable read", async (tx) => {
      await keepMonths(tx);
      await allowStatements(limits.statementCloseMsMax, tx);
      await preferHashes(tx);
      return closeIn({ workspace, month, nowMs: clock.now() }, tx);
    })) as boolean;
    if (closed) log.info({ event: "statement.closed", workspace, month }, "A statement was closed");
    return closed;
  } catch (error) {
    // Another process closed it just before the lock was taken.
    if (["23505", "40001"].includes(errorCode(error))) return false;
    throw error;
  }
}

async function closeIn(
  { workspace, month, nowMs }: { workspace: WorkspaceId; month: Month; nowMs: number },
  tx: Transaction,
): Promise<boolean> {
  if (!(await becomeCloser(workspace, tx))) return false;
  const last = await selectLast(workspace, tx);
  if (last !== undefined && last.number >= month) return true;
  const from = (last?.to ?? 0n) + 1n;
  const to = await selectSliceEnd({ workspace, month, from }, tx);
  const workspaceName = await selectName(workspace, tx);
  const { document, sums } = await composeStatement({ slice: { workspace, month, from, to }, workspaceName, nowMs }, tx);
  const { text, sha256 } = hashedDocument(document);
  await insertStatement({ ...sums, workspace, from, to, document: text, sha256, closedAt: nowMs }, tx);
  return true;
}

function report(error: unknown, workspace: WorkspaceId, log: Logger): void {
  if (error instanceof ContradictionError) {
    raiseAlarm(log, "statement.contradicted", { workspace, reason: error.message }, "A statement does not add up and stays open");
  } else {
    log.warn({ event: "statements.failed", workspace, reason: String(error) }, "A statement could not be closed");
  }
}

// `statement close`

interface Sources {
  sql: Database;
  clock: Clock;
  notify(topic: Notification): void;
}

/** Has metering close what is due, and says what closed. @param workspace null: all, of which the first 200 are named */
export async function closeNow(workspace: WorkspaceId | null, sources: Sources): Promise<ClosingView> {
  const due = await dueNow(workspace, sources);
  if (due.length === 0) return { closed: [], waiting: [] };
  sources.notify("statements-due");
  const until = sources.clock.monotonic() + limits.statementCloseWaitMs;
  for (;;) {
    const waiting = await dueNow(workspace, sources);
    if (waiting.length === 0 || sources.clock.monotonic() >= until) return closingView(due, waiting);
    await sleep(sources.clock, limits.statementClosePollMs);
  }
}

type Named = ClosingView["closed"][number];

/** A workspace may have several months to close. */
async function dueNow(workspace: WorkspaceId | null, { sql, clock }: Sources): Promise<Named[]> {
  const month = lastDueMonth(clock.now());
  const monthEnd = new Date(monthBounds(month).endMs);
  const rows = await selectDue({ month, monthEnd, workspace, after: "", limit: limits.statementsDueMax }, sql);
  return rows.flatMap(({ workspace: id, last, firstEntryAt }) =>
    monthsOf(last === null ? monthOf(firstEntryAt.getTime()) : monthAfter(last), month).map((number) => ({
      workspace_id: id,
      number,
    })),
  );
}

function monthsOf(first: Month, last: Month): Month[] {
  return first > last ? [] : [first, ...monthsOf(monthAfter(first), last)];
}

function closingView(due: Named[], waiting: Named[]): ClosingView {
  const nameOf = ({ workspace_id: id, number }: Named): string => `${id} ${number}`;
  const left = new Set(waiting.map(nameOf));
  return { closed: due.filter((one) => !left.has(nameOf(one))), waiting: due.filter((one) => left.has(nameOf(one))) };
}
