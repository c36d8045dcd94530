/**
 * Keeps this many streams open: when one ends, the next begins. The first ones begin a few at a time, since gateways that have just started
 * refuse a flood, and the question is what they do later.
 */
import { model, type Testbed } from "../world/testbed.ts";
import { newCall, type ClientCall } from "./client-call.ts";
import { until } from "../../../support/until.ts";
import type { Customer } from "./customers.ts";
import { sendToAny } from "./send.ts";

export interface OpenStreamsPlan {
  testbed: Pick<Testbed, "gateways">;
  customer: Customer;
  streams: number;
  /** The duration of each stream, with two events a second. */
  seconds: number;
}

const timeoutMs = 120_000;
const gapMs = 500;
/** How many of the first streams may wait for the beginning of their answers. */
const beginningMax = 20;
/** Until all have begun, on a machine that does much else. */
const begunMsMax = 120_000;

export class OpenStreams {
  readonly calls: ClientCall[] = [];
  readonly #plan: OpenStreamsPlan;
  readonly #loops: Promise<void>[] = [];
  /** Resolves when every stream has begun. */
  readonly begun: Promise<void>;
  #stopped = false;

  constructor(plan: OpenStreamsPlan) {
    this.#plan = plan;
    this.begun = this.#begin();
  }

  /** Resolves when the last stream has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.begun;
    await Promise.all(this.#loops);
  }

  async #begin(): Promise<void> {
    const waiting = () => this.calls.filter(({ answeredAt, endedAt }) => answeredAt === null && endedAt === null).length;
    for (let index = 0; index < this.#plan.streams && !this.#stopped; index++) {
      await until(() => waiting() < beginningMax, begunMsMax);
      this.#loops.push(this.#loop(index));
    }
    await until(() => waiting() < beginningMax, begunMsMax);
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
