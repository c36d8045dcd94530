/**
 * Generations whose admission was not heard of. They are given up until a worker says done: the tombstone that
 * this leaves refuses an admission that is still on its way.
 */
import { sleep, type Clock } from "../../../kernel/clock.ts";
import type { Logger } from "../../../kernel/log.ts";
import type { GenerationId, WorkspaceId } from "../../../kernel/ids.ts";
import { holdMs } from "../../../backing/limits.ts";
import { admissionBatchMax, releaseRetryMs, releasesWaitingMax } from "../../limits.ts";
import type { RequestBatcher } from "./request-batcher.ts";

interface PendingRelease {
  workspace: WorkspaceId;
  generation: GenerationId;
  /** Monotonic ms: the sweeper has released the hold by then. */
  endsAt: number;
}

export class PendingReleases {
  readonly #questions: RequestBatcher;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting: PendingRelease[] = [];
  #size = 0;
  #running = false;

  constructor(questions: RequestBatcher, clock: Clock, log: Logger) {
    this.#questions = questions;
    this.#clock = clock;
    this.#log = log;
  }

  add(workspace: WorkspaceId, generation: GenerationId): void {
    if (this.#size >= releasesWaitingMax) {
      this.#log.error({ event: "voids.full", generation }, "Too many unknown admissions wait; this one is left to the sweeper");
      return;
    }
    this.#size++;
    this.#waiting.push({ workspace, generation, endsAt: this.#clock.monotonic() + holdMs });
    if (!this.#running) void this.#run();
  }

  /** How many are not given up yet. */
  get size(): number {
    return this.#size;
  }

  /** Cannot reject. It stops in the same turn in which it finds nothing waiting, so that nothing is added unseen. */
  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, admissionBatchMax);
      const left = await Promise.all(batch.map(async (entry) => ((await this.#release(entry)) ? [] : [entry])));
      const again = left.flat();
      this.#size -= batch.length - again.length;
      this.#waiting.push(...again);
      if (again.length > 0) await sleep(this.#clock, releaseRetryMs);
    }
    this.#running = false;
  }

  async #release({ workspace, generation, endsAt }: PendingRelease): Promise<boolean> {
    if (this.#clock.monotonic() > endsAt) return true;
    try {
      const { reply: answer } = await this.#questions.send({ kind: "void", workspace, generation });
      return answer.kind === "done";
    } catch {
      return false;
    }
  }
}
