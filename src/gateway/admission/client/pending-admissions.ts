/**
 * Admissions that were asked and not answered yet. Counters that are rebuilt meanwhile are rebuilt from reports that cannot name
 * them, so their holds may be missing there: the report that does not name them marks them, in the same turn, and what was
 * admitted under the mark is asked again.
 */
import type { WorkspaceId } from "../../../kernel/ids.ts";

export interface PendingAdmission {
  workspace: WorkspaceId;
  /** Whether a report was made since it was asked; who asks again takes the mark away. */
  reported: boolean;
}

export class PendingAdmissions {
  readonly #open = new Set<PendingAdmission>();

  /** To be called whenever what is open in a workspace is reported. */
  markReported(workspace: WorkspaceId): void {
    for (const undecided of this.#open) if (undecided.workspace === workspace) undecided.reported = true;
  }

  /** Before it is asked. */
  open(workspace: WorkspaceId): PendingAdmission {
    const undecided = { workspace, reported: false };
    this.#open.add(undecided);
    return undecided;
  }

  /** It is known to the book or given up. */
  close(undecided: PendingAdmission): void {
    this.#open.delete(undecided);
  }
}
