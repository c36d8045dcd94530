/** Keeps this many streams open: when one ends, the next begins. */
import { model, type Testbed } from "../world/testbed.ts";
import { newCall, type ClientCall } from "./client-call.ts";
import type { Customer } from "./customers.ts";
import { sendToAny } from "./send.ts";

export interface OpenStreamsPlan {
  testbed: Pick<Testbed, "gateways">;
  customer: Customer;
  streams: number;
  /** The duration of each stream, with ten events a second. */
  seconds: number;
}

const timeoutMs = 120_000;
const gapMs = 100;

export class OpenStreams {
  readonly calls: ClientCall[] = [];
  readonly #plan: OpenStreamsPlan;
  readonly #loops: Promise<void>[];
  #stopped = false;

  constructor(plan: OpenStreamsPlan) {
    this.#plan = plan;
    this.#loops = Array.from({ length: plan.streams }, (_, index) => this.#loop(index));
  }

  /** The number of streams that have begun and not ended. */
  get open(): number {
    return this.calls.filter(({ answeredAt, endedAt }) => endedAt === null || answeredAt === null).length;
  }

  /** Resolves when the last stream has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
  }

  async #loop(index: number): Promise<void> {
    const { testbed, customer, seconds } = this.#plan;
    const { id: key, key: secret } = customer.keys[index % customer.keys.length] ?? { id: "", key: "" };
    const content = `tokens=${Math.round((seconds * 1_000) / gapMs)} gap_ms=${gapMs}`;
    for (let turn = index; !this.#stopped; turn++) {
      const gateway = turn % testbed.gateways.length;
      const call = newCall({ customer, key, streamed: true, gateway, endpoint: turn % 3 === 0 ? "completions" : "chat" });
      this.calls.push(call);
      await sendToAny(call, { secret, model, content, maxTokens: 500, timeoutMs }, testbed.gateways);
    }
  }
}
