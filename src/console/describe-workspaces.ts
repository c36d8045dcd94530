import { monthOf } from "../kernel/clock.ts";
import { positionsAtOnceMax } from "../limits/constants.ts";
import type { CreditView } from "../credit/schema.ts";
import type { WorkspaceView } from "../workspaces/schema.ts";
import type { WorkspaceRow } from "../workspaces/store.ts";
import { viewCredit, viewWorkspace } from "../workspaces/view.ts";
import type { ControlParts } from "./parts.ts";

type Sources = Pick<ControlParts, "clock" | "position">;

/** With what the counters hold back at present, asked for a bounded number of workspaces at a time. */
export async function describeWorkspaces(rows: WorkspaceRow[], { clock, position }: Sources): Promise<WorkspaceView[]> {
  const month = monthOf(clock.now());
  const views: WorkspaceView[] = [];
  for (let from = 0; from < rows.length; from += positionsAtOnceMax) {
    const some = rows.slice(from, from + positionsAtOnceMax);
    const described = some.map(async (row) => viewWorkspace(row, { month, credit: await position(row.id, null) }));
    views.push(...(await Promise.all(described)));
  }
  return views;
}

export async function describeCredit(row: WorkspaceRow, { position }: Sources): Promise<CreditView> {
  return viewCredit(row.balance, await position(row.id, null));
}
