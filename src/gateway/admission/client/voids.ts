/**
 * Generations whose admission was not heard of. They are given up until a worker says done: the tombstone that
 * this leaves refuses an admission that is still on its way.
 */
import { sleep, type Clock } from "../../../kernel/clock.ts";
import type { Logger } from "../../../kernel/log.ts";
import type { GenerationId, WorkspaceId } from "../../../kernel/ids.ts";
import { holdMs } from "../../../backing/limits.ts";
import { admissionBatchMax, voidRetryMs, voidsWaitingMax } from "../../limits.ts";
import type { Questions } from "./request-batcher.ts";

interface Void {
  workspace: WorkspaceId;
  generation: GenerationId;
  /** Monotonic ms: the sweeper has released the hold by then. */
  endsAt: number;
}

export class Voids {
  readonly #questions: Questions;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting: Void[] = [];
  #size = 0;
  #running = false;

  constructor(questions: Questions, clock: Clock, log: Logger) {
    this.#questions = questions;
    this.#clock = clock;
    this.#log = log;
  }

  add(workspace: WorkspaceId, generation: GenerationId): void {
    if (this.#size >= voidsWaitingMax) {
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
      const left = await Promise.all(batch.map(async (entry) => ((await this.#giveUp(entry)) ? [] : [entry])));
      const again = left.flat();
      this.#size -= batch.length - again.length;
      this.#waiting.push(...again);
      if (again.length > 0) await sleep(this.#clock, voidRetryMs);
    }
    this.#running = false;
  }

  async #giveUp({ workspace, generation, endsAt }: Void): Promise<boolean> {
    if (this.#clock.monotonic() > endsAt) return true;
    try {
      const { answer } = await this.#questions.ask({ kind: "void", workspace, generation });
      return answer.kind === "done";
    } catch {
      return false;
    }
  }
}
