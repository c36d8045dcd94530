/** A closed loop of unary requests over several gateways and keys, with every outcome kept. */
import { chat, outcomeOf } from "./requests.ts";

export interface LoadPlan {
  urls: string[];
  keys: string[];
  connections: number;
  /** Absent: the stub's. */
  model?: string;
}

export class Load {
  /** Generation ids of whole answers. */
  readonly succeeded: string[] = [];
  /** How often each failure occurred. */
  readonly failures: Record<string, number> = {};
  readonly #plan: LoadPlan;
  readonly #loops: Promise<void>[];
  #stopped = false;
  #pauseMs = 0;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#loops = Array.from({ length: plan.connections }, (_, index) => this.#loop(index));
  }

  /** From here on each client pauses between its requests, which leaves the CPU to others. */
  ease(): void {
    this.#pauseMs = 50;
  }

  /** Resolves when every request in flight has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
  }

  async #loop(first: number): Promise<void> {
    const { urls, keys, model = "stub/model" } = this.#plan;
    for (let turn = first; !this.#stopped; turn++) {
      const outcome = await outcomeOf(
        chat({ url: urls[turn % urls.length] ?? "", key: keys[turn % keys.length] ?? "", body: { model } }),
      );
      if (outcome.status === 200 && outcome.generation !== null) this.succeeded.push(outcome.generation);
      else await this.#failed(`${outcome.status} ${outcome.code}`);
      if (this.#pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#pauseMs));
    }
  }

  /** A refused client waits for a short time before its next request. */
  async #failed(name: string): Promise<void> {
    this.failures[name] = (this.failures[name] ?? 0) + 1;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
