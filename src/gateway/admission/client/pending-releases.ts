/**
 * Generations whose admission has an unknown outcome. Their release is requested until a worker confirms it. The tombstone that a
 * release leaves refuses an admission that arrives later.
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
  /** Monotonic ms: by then the sweeper has released the hold. */
  endsAt: number;
}

export class PendingReleases {
  readonly #batcher: RequestBatcher;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting: PendingRelease[] = [];
  #size = 0;
  #running = false;

  constructor(batcher: RequestBatcher, clock: Clock, log: Logger) {
    this.#batcher = batcher;
    this.#clock = clock;
    this.#log = log;
  }

  add(workspace: WorkspaceId, generation: GenerationId): void {
    if (this.#size >= releasesWaitingMax) {
      this.#log.error(
        { event: "releases.full", generation },
        "Too many admissions with an unknown outcome; the sweeper releases this one",
      );
      return;
    }
    this.#size++;
    this.#waiting.push({ workspace, generation, endsAt: this.#clock.monotonic() + holdMs });
    if (!this.#running) void this.#run();
  }

  /** How many are not released yet. */
  get size(): number {
    return this.#size;
  }

  /** Never rejects. It stops in the turn in which it finds nothing waiting, so that no later addition is missed. */
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
      const { reply } = await this.#batcher.send({ kind: "void", workspace, generation });
      return reply.kind === "done";
    } catch {
      return false;
    }
  }
}
