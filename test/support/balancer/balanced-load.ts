/** Clients behind a balancer: some read streams, and some send one short request after the other, each with every failure kept. */
import { chat } from "../gateway/requests.ts";

export interface BalancedLoadPlan {
  url: string;
  key: string;
  /** How many clients read a stream of a second. */
  streams: number;
  /** How many clients send short requests. */
  requests: number;
}

/** A request that was refused, broken off or incomplete. */
export interface FailedRequest {
  /** By performance.now(). */
  sentAt: number;
  what: string;
}

const streamed = { stream: true, messages: [{ role: "user", content: "sandbox: tokens=10 gap_ms=100" }] };
const short = { max_tokens: 1 };
const pauseMs = 75;

export class BalancedLoad implements AsyncDisposable {
  readonly failures: FailedRequest[] = [];
  /** How many whole answers there were. */
  whole = 0;
  readonly #plan: BalancedLoadPlan;
  readonly #clients: Promise<void>[];
  #isStopped = false;

  constructor(plan: BalancedLoadPlan) {
    this.#plan = plan;
    const bodies = [
      ...Array.from({ length: plan.streams }, () => streamed),
      ...Array.from({ length: plan.requests }, () => short),
    ];
    this.#clients = bodies.map((body) => this.#client(body));
  }

  /** Resolves when no request is open. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#clients);
  }

  async #client(body: Record<string, unknown>): Promise<void> {
    while (!this.#isStopped) {
      const sentAt = performance.now();
      const what = await this.#problemOf(body).catch(String);
      if (what === null) this.whole++;
      else this.failures.push({ sentAt, what });
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async #problemOf(body: Record<string, unknown>): Promise<string | null> {
    const { url, key } = this.#plan;
    const response = await chat({ url, key, body: { model: "sandbox/echo", ...body } });
    const text = await response.text();
    if (response.status !== 200) return `${response.status} ${text}`;
    const isWhole = !text.includes('"error"') && (body !== streamed || text.endsWith("data: [DONE]\n\n"));
    return isWhole ? null : `it ended with ${text.slice(-200)}`;
  }
}
