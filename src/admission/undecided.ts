/**
 * Admissions that were asked and not answered yet. Counters that are rebuilt meanwhile are rebuilt from reports that cannot name
 * them, so their holds may be missing there: a report marks them, and what was admitted under the mark is asked again.
 */
import type { Bus } from "../backing/bus.ts";
import { decodeOpenQuestion, encodeOpenReport } from "../generations/open-report.ts";
import type { WorkspaceId } from "../kernel/ids.ts";

export interface Undecided extends Disposable {
  /** Whether a report was made since it was asked; asking takes the mark away. */
  takeMark(): boolean;
}

export class UndecidedAdmissions {
  readonly #marks = new Map<WorkspaceId, Set<{ marked: boolean }>>();

  constructor(bus: Bus) {
    bus.report("open-generations", (payload) => {
      for (const mark of this.#marks.get(decodeOpenQuestion(payload).workspace) ?? []) mark.marked = true;
      return encodeOpenReport({ holds: [], windows: [] });
    });
  }

  /** Before it is asked, until it is known to the book or given up. */
  open(workspace: WorkspaceId): Undecided {
    const mark = { marked: false };
    const marks = this.#marks.get(workspace) ?? new Set();
    this.#marks.set(workspace, marks.add(mark));
    return {
      takeMark() {
        const { marked } = mark;
        mark.marked = false;
        return marked;
      },
      [Symbol.dispose]: () => {
        marks.delete(mark);
        if (marks.size === 0 && this.#marks.get(workspace) === marks) this.#marks.delete(workspace);
      },
    };
  }
}
