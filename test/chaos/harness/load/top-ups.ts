/** Somebody adds a little credit again and again, and tries again where the outcome is not known: the same reference adds once. */
import { Control } from "../world/control.ts";
import type { Site } from "../world/site.ts";
import type { Customer } from "./customers.ts";

const everyMs = 1_500;
const usd = "0.001";

export class TopUps {
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;
  /** References that were answered well: each must be in the ledger once. */
  readonly confirmed: { workspace: string; reference: string }[] = [];

  constructor(site: Pick<Site, "gateways">, customers: Customer[]) {
    const contested = customers.filter(({ kind }) => kind === "credit");
    this.#done = this.#run(new Control(site), contested);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  async #run(control: Control, customers: Customer[]): Promise<void> {
    for (let turn = 0; !this.#stopping.signal.aborted; turn++) {
      const { workspace } = customers[turn % customers.length] ?? { workspace: "" };
      const reference = `top-up ${turn}`;
      await this.#add(control, workspace, reference);
      await this.#pause();
    }
  }

  async #add(control: Control, workspace: string, reference: string): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const added = await control
        .any((operator) => operator.call("POST", "/credit", { workspace, usd, ref: reference }))
        .catch(() => null);
      if (added !== null) return void this.confirmed.push({ workspace, reference });
      await this.#pause();
    }
  }

  #pause(): Promise<void> {
    const { signal } = this.#stopping;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, everyMs);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
