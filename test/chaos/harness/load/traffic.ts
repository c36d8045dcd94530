/** Sends a steady rate of requests, streamed and not, in an order that the seed determines. */
import { randomFrom } from "../../../support/random.ts";
import { model, pairedModel, type Testbed } from "../world/testbed.ts";
import { agentEndpoints, newCall, type ClientCall } from "./client-call.ts";
import type { Customer } from "./customers.ts";
import { isDue, Repeats, type KeyedRequest } from "./repeats.ts";
import { sendToAny, type Sending } from "./send.ts";

export interface TrafficPlan {
  testbed: Pick<Testbed, "gateways">;
  customers: Customer[];
  seed: number;
  requestsPerSecond: number;
  /** Whether clients also speak what agents speak, send idempotency keys and repeat requests. A former version may know none of it. */
  isFull: boolean;
}

const tickMs = 20;
/** With this many open requests, clients send no further ones. */
const openMax = 2_000;
const timeoutMs = 60_000;

interface Repeated {
  call: ClientCall;
  customer: Customer;
  sending: Omit<Sending, "url">;
  ended: Promise<void>;
  keyed: KeyedRequest;
}

export class Traffic {
  readonly calls: ClientCall[] = [];
  readonly #plan: TrafficPlan;
  readonly #random: () => number;
  readonly #repeats: Repeats | null;
  readonly #open = new Set<Promise<void>>();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #startedAt = performance.now();
  #sent = 0;

  constructor(plan: TrafficPlan) {
    this.#plan = plan;
    this.#random = randomFrom(plan.seed);
    this.#repeats = plan.isFull ? new Repeats(plan.seed) : null;
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  /** Resolves when every open request has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
  }

  /** Requests that were due while too many were open are never sent, so that no flood follows a pause. */
  #tick(): void {
    const due = Math.floor(((performance.now() - this.#startedAt) / 1_000) * this.#plan.requestsPerSecond);
    for (; this.#sent < due; this.#sent++) {
      if (this.#open.size >= openMax) continue;
      const request = this.#request().finally(() => this.#open.delete(request));
      this.#open.add(request);
    }
  }

  async #request(): Promise<void> {
    const { testbed, customers } = this.#plan;
    const chance = this.#random();
    const isChosen = ({ kind, isBusy }: Customer): boolean => (chance < 0.3 ? isBusy : chance < 0.6 ? kind === "plenty" : true);
    const chosen = customers.filter(isChosen);
    const customer = this.#pick(chosen.length > 0 ? chosen : customers);
    const key = this.#pick(customer.keys);
    const streamed = this.#random() < 0.4;
    const first = Math.floor(this.#random() * testbed.gateways.length);
    const sending = {
      secret: key.key,
      ...this.#instructions(streamed, customer),
      timeoutMs: this.#random() < 0.02 ? 150 : timeoutMs,
    };
    const keyed = this.#repeats?.next() ?? null;
    const endpoint = this.#plan.isFull ? agentEndpoints[this.#sent % agentEndpoints.length] : undefined;
    const named = { ...(endpoint && { endpoint }), idempotencyKey: keyed?.idempotencyKey ?? null };
    const call = newCall({ customer, key: key.id, streamed, gateway: first, ...named });
    this.calls.push(call);
    const ended = sendToAny(call, { ...sending, timeoutMs: keyed?.leavesMs ?? sending.timeoutMs }, testbed.gateways);
    const repetitions = keyed === null ? [] : this.#repeat({ call, customer, sending, ended, keyed });
    await Promise.all([ended, ...repetitions]);
  }

  #repeat({ call: first, customer, sending, ended, keyed }: Repeated): Promise<void>[] {
    const { gateways } = this.#plan.testbed;
    return keyed.again.map(async (repetition, place) => {
      if (!(await isDue(first, ended, repetition))) return;
      const { key, streamed, endpoint } = first;
      const gateway = (first.gateway + 1 + place) % gateways.length;
      const call = newCall({ customer, key, streamed, gateway, endpoint, first });
      this.calls.push(call);
      const content = repetition.hasOtherBody ? `${sending.content} other=1` : sending.content;
      await sendToAny(call, { ...sending, content, timeoutMs }, gateways);
    });
  }

  /**
   * Mostly short answers, some that outlast a fault, and sometimes a provider that fails. A limit of an own key leads to another provider,
   * and a limit of the first model's provider to another model.
   */
  #instructions(streamed: boolean, { own }: Customer): Pick<Sending, "model" | "content" | "maxTokens" | "routing"> {
    const isLong = this.#random() < 0.05;
    const tokens = 1 + Math.floor(this.#random() * (isLong ? 100 : 20));
    const gapMs = Math.floor(this.#random() * (streamed && !isLong ? 30 : 100));
    const status = this.#random() < 0.02 ? " status=500" : "";
    const ownStatus = own !== null && this.#random() < 0.3 ? " own_status=429" : "";
    const isRouted = this.#random() < 0.3;
    const firstStatus = isRouted && own === null && this.#random() < 0.5 ? " first_status=429" : "";
    const content = `tokens=${tokens} gap_ms=${gapMs}${status}${ownStatus}${firstStatus}`;
    if (own !== null)
      return { model: pairedModel, content, maxTokens: 500, routing: isRouted ? { provider: { order: ["spare"] } } : {} };
    return { model, content, maxTokens: 500, routing: isRouted ? { models: [pairedModel] } : {} };
  }

  #pick<T>(from: readonly T[]): T {
    const chosen = from[Math.floor(this.#random() * from.length)];
    if (chosen === undefined) throw new Error("The list to choose from is empty");
    return chosen;
  }
}
