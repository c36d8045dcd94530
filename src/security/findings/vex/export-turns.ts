/** Exports of thousands of findings run one after the other: one of a person, one of a workspace and two of a process. */
import { FairSemaphore } from "../../../accounts/quotas/fair-semaphore.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { vexExportsAtOnceMax, vexExportsWaitingMax, vexExportWaitMs } from "../limits.ts";

const perPerson = {
  runningMax: Infinity,
  runningPerHolderMax: 1,
  waitingMax: vexExportsWaitingMax,
  waitingPerHolderMax: 1,
  waitMs: vexExportWaitMs,
};
const perWorkspace = { ...perPerson, runningMax: vexExportsAtOnceMax, waitingPerHolderMax: vexExportsWaitingMax };

export class ExportTurns {
  readonly #people: FairSemaphore;
  readonly #workspaces: FairSemaphore;

  constructor(clock: Clock) {
    this.#people = new FairSemaphore({ clock, limits: perPerson, busy: "Another export of yours runs: wait for its end" });
    this.#workspaces = new FairSemaphore({ clock, limits: perWorkspace, busy: "Too many exports run at this moment" });
  }

  /** @returns the turn, which its disposal gives back @throws LimitReachedError when a person has one waiting, or after a long wait */
  async acquire({ person, workspace }: { person: string; workspace: WorkspaceId }): Promise<Disposable> {
    using turn = new DisposableStack();
    turn.defer(await this.#people.acquire(person));
    turn.defer(await this.#workspaces.acquire(workspace));
    return turn.move();
  }
}
