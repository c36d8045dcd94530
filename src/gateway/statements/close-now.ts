/** `statement close`: has metering close what is due, and tells what closed. */
import type { Database } from "../../backing/backing.ts";
import type { Notification } from "../../backing/bus.ts";
import { monthBounds, monthOf, sleep, type Clock, type Month } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { statementClosePollMs, statementCloseWaitMs, statementsDueMax } from "../limits.ts";
import { lastDueMonth, monthAfter } from "./close.ts";
import type { ClosingView } from "./schema.ts";
import { selectDue } from "./statements-store.ts";

interface Sources {
  sql: Database;
  clock: Clock;
  notify(topic: Notification): void;
}

/** @param workspace null: all, of which the first 200 are told */
export async function closeNow(workspace: WorkspaceId | null, sources: Sources): Promise<ClosingView> {
  const due = await dueNow(workspace, sources);
  if (due.length === 0) return { closed: [], waiting: [] };
  sources.notify("statements-due");
  const until = sources.clock.monotonic() + statementCloseWaitMs;
  for (;;) {
    const waiting = await dueNow(workspace, sources);
    if (waiting.length === 0 || sources.clock.monotonic() >= until) return told(due, waiting);
    await sleep(sources.clock, statementClosePollMs);
  }
}

type Named = ClosingView["closed"][number];

/** A workspace may have several months to close. */
async function dueNow(workspace: WorkspaceId | null, { sql, clock }: Sources): Promise<Named[]> {
  const month = lastDueMonth(clock.now());
  const monthEnd = new Date(monthBounds(month).endMs);
  const rows = await selectDue({ month, monthEnd, workspace, after: "", limit: statementsDueMax }, sql);
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

function told(due: Named[], waiting: Named[]): ClosingView {
  const nameOf = ({ workspace_id: id, number }: Named): string => `${id} ${number}`;
  const left = new Set(waiting.map(nameOf));
  return { closed: due.filter((one) => !left.has(nameOf(one))), waiting: due.filter((one) => left.has(nameOf(one))) };
}
