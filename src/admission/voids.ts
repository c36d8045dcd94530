/**
 * Generations whose admission was not heard of. They are given up until a worker says done: the tombstone that
 * this leaves refuses an admission that is still on its way.
 */
import { sleep, type Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import type { GenerationId, WorkspaceId } from "../kernel/ids.ts";
import { admissionBatchMax, holdMs, voidRetryMs, voidsWaitingMax } from "../limits/constants.ts";
import type { Questions } from "./questions.ts";

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
  #waiting: Void[] = [];
  #running: Promise<void> | null = null;

  constructor(questions: Questions, clock: Clock, log: Logger) {
    this.#questions = questions;
    this.#clock = clock;
    this.#log = log;
  }

  add(workspace: WorkspaceId, generation: GenerationId): void {
    if (this.#waiting.length >= voidsWaitingMax) {
      this.#log.error({ event: "voids.full", generation }, "Too many unknown admissions wait; this one is left to the sweeper");
      return;
    }
    this.#waiting.push({ workspace, generation, endsAt: this.#clock.monotonic() + holdMs });
    this.#running ??= this.#run().finally(() => (this.#running = null));
  }

  /** How many are not given up yet. */
  get size(): number {
    return this.#waiting.length;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, admissionBatchMax);
      const left = await Promise.all(batch.map(async (entry) => ((await this.#giveUp(entry)) ? [] : [entry])));
      this.#waiting.push(...left.flat());
      if (left.some((entries) => entries.length > 0)) await sleep(this.#clock, voidRetryMs);
    }
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
