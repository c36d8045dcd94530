/** Loads of counters, at most one at a time for each workspace, month, key or set of budgets. After a failure the next caller starts a new load. */
import type { Budget } from "../../../backing/counters.ts";
import { withDeadline, type Clock, type Month } from "../../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../../kernel/ids.ts";
import type { Logger } from "../../../kernel/log.ts";
import { rebuildWaitMs } from "../../limits.ts";
import { loadBudgets, loadKeyMonth, loadWorkspace, refreshAccount, type LoadParts } from "./load.ts";

/** What counters may lack: a whole workspace, its total of a month, a key's total of a month, or totals of budgets at a time. */
export type Missing =
  | { what: "workspace" | "month"; workspace: WorkspaceId; month: Month }
  | { what: "key"; workspace: WorkspaceId; key: KeyId; month: Month }
  | { what: "budget"; workspace: WorkspaceId; budgets: readonly Budget[]; at: number };

export class SingleFlightLoads {
  readonly #inFlight = new Map<string, Promise<boolean>>();
  readonly #parts: LoadParts & { clock: Clock; log: Logger };

  constructor(parts: LoadParts & { clock: Clock; log: Logger }) {
    this.#parts = parts;
  }

  /** Never rejects. @returns whether it is loaded */
  run(missing: Missing): Promise<boolean> {
    const name = nameOf(missing);
    const current = this.#inFlight.get(name);
    if (current) return current;
    const { clock, log } = this.#parts;
    const running = withDeadline(clock, rebuildWaitMs, `Loading ${name}`, load(missing, this.#parts))
      .then(() => true)
      .catch((error: unknown) => {
        log.warn({ event: "counters.load.failed", what: name, reason: String(error) }, "Counters could not be loaded");
        return false;
      })
      .finally(() => this.#inFlight.delete(name));
    this.#inFlight.set(name, running);
    return running;
  }
}

function nameOf(missing: Missing): string {
  const { what, workspace } = missing;
  switch (what) {
    case "workspace":
      return `workspace ${workspace}`;
    case "month":
      return `month ${workspace} ${missing.month}`;
    case "key":
      return `key ${missing.key} ${missing.month}`;
    case "budget":
      return `budgets ${workspace} ${missing.budgets.map(({ name }) => name).join(" ")}`;
  }
}

function load(missing: Missing, parts: LoadParts): Promise<void> {
  switch (missing.what) {
    case "workspace":
      return loadWorkspace(missing, parts);
    case "month":
      return refreshAccount(missing, parts);
    case "key":
      return loadKeyMonth(missing, parts);
    case "budget":
      return loadBudgets(missing, parts);
  }
}
