/** Loads of counters, at most one at a time for each workspace, month or key. After a failure the next caller starts a new load. */
import { withDeadline, type Clock, type Month } from "../../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../../kernel/ids.ts";
import type { Logger } from "../../../kernel/log.ts";
import { rebuildWaitMs } from "../../limits.ts";
import { loadKeyMonth, loadWorkspace, refreshAccount, type LoadParts } from "./load.ts";

/** What counters may lack: a whole workspace, its total of a month, or a key's total of a month. */
export type Missing =
  | { what: "workspace" | "month"; workspace: WorkspaceId; month: Month }
  | { what: "key"; workspace: WorkspaceId; key: KeyId; month: Month };

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
  const { what, workspace, month } = missing;
  if (what === "workspace") return `workspace ${workspace}`;
  return what === "key" ? `key ${missing.key} ${month}` : `month ${workspace} ${month}`;
}

function load(missing: Missing, parts: LoadParts): Promise<void> {
  switch (missing.what) {
    case "workspace":
      return loadWorkspace(missing, parts);
    case "month":
      return refreshAccount(missing, parts);
    case "key":
      return loadKeyMonth(missing, parts);
  }
}
