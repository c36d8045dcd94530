/**
 * Admission requests without a reply. Counters that are rebuilt before the reply arrives lack their holds, since the gateway's report
 * of open generations cannot name them. That report therefore marks them, in the same turn of the event loop, and the client repeats a
 * request that was admitted under the mark.
 */
import type { WorkspaceId } from "../../../kernel/ids.ts";

export interface PendingAdmission {
  workspace: WorkspaceId;
  /** Whether a report was made since the request was sent. The client clears it before it repeats the request. */
  reported: boolean;
}

export class PendingAdmissions {
  readonly #open = new Set<PendingAdmission>();

  /** Call it for each report of a workspace's open generations. */
  markReported(workspace: WorkspaceId): void {
    for (const pending of this.#open) if (pending.workspace === workspace) pending.reported = true;
  }

  /** Call it before the request is sent. */
  open(workspace: WorkspaceId): PendingAdmission {
    const pending = { workspace, reported: false };
    this.#open.add(pending);
    return pending;
  }

  /** Call it when the generation is in the journal or released. */
  close(pending: PendingAdmission): void {
    this.#open.delete(pending);
  }
}
