import { monthOf } from "../kernel/clock.ts";
import { positionsAtOnceMax, positionsMsMax } from "./limits.ts";
import type { CreditView } from "../gateway/credit/credit.ts";
import type { WorkspaceView } from "../accounts/workspaces/schema.ts";
import type { WorkspaceRow } from "../accounts/workspaces/store.ts";
import { viewCredit, viewWorkspace } from "../accounts/workspaces/workspaces.ts";
import type { ControlParts } from "./parts.ts";

type Sources = Pick<ControlParts, "clock" | "position">;

/**
 * Includes the amounts that the counters reserve at present. Counters that were not used lately are loaded first, which takes time, so
 * a bounded number is read at once, and after a deadline the rest goes without them.
 */
export async function describeWorkspaces(rows: WorkspaceRow[], { clock, position }: Sources): Promise<WorkspaceView[]> {
  const month = monthOf(clock.now());
  const askUntil = clock.monotonic() + positionsMsMax;
  const views: WorkspaceView[] = [];
  for (let from = 0; from < rows.length; from += positionsAtOnceMax) {
    const some = rows.slice(from, from + positionsAtOnceMax);
    const late = clock.monotonic() > askUntil;
    const credits = await Promise.all(some.map((row) => (late ? null : position(row.id, null))));
    views.push(...some.map((row, index) => viewWorkspace(row, { month, credit: credits[index] ?? null })));
  }
  return views;
}

export async function describeCredit(row: WorkspaceRow, { position }: Sources): Promise<CreditView> {
  return viewCredit(row.balance, await position(row.id, null));
}
