/**
 * The requests that this process is answering, counted by key, by workspace and in all. Beyond a limit the next one is refused: the limits
 * protect memory, not money, so requests that admission still decides need not be counted.
 * A shutdown waits for these requests, then stops the rest through their signals and waits for the settlements. It never drops a request
 * that has an answer under way without settling it.
 */
import type { Caller } from "../admission/message.ts";
import { sleep, type Clock, StopSignal } from "../../kernel/clock.ts";
import {
  inFlightPollMs,
  openAnswersMax,
  openAnswersPerKeyMax,
  openAnswersPerWorkspaceMax,
  openAnswersRetryMs,
} from "../limits.ts";
import { HolderCounts } from "../../accounts/quotas/fair-semaphore.ts";
import { LimitReachedError } from "../../accounts/errors.ts";
import { asGatewayError } from "./request/body.ts";

/** The key and the workspace of a request. */
interface Holder {
  key: string;
  workspace: string;
}

export class InFlightRequests {
  readonly #inFlight = new Map<StopSignal, Holder>();
  /** Counts by key and by workspace. */
  readonly #counts = new HolderCounts();
  #whenEmpty: (() => void)[] = [];

  get size(): number {
    return this.#inFlight.size;
  }

  /** @returns a signal that stops when the process cannot wait any longer; pass it to `done` when the answer has ended */
  begin({ key, workspace }: Holder): StopSignal {
    const answer = new StopSignal();
    this.#inFlight.set(answer, { key, workspace });
    this.#counts.add(key, 1);
    this.#counts.add(workspace, 1);
    return answer;
  }

  done(answer: StopSignal): void {
    const holder = this.#inFlight.get(answer);
    if (holder === undefined) return;
    this.#inFlight.delete(answer);
    this.#counts.add(holder.key, -1);
    this.#counts.add(holder.workspace, -1);
    if (this.#inFlight.size === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  /**
   * Refuses a request beyond the limits of key, workspace and process. Requests in admission are not counted yet: the limits protect
   * memory, not money.
   * @throws GatewayError rate_limited, billing_unavailable
   */
  requireCapacity(caller: Caller): void {
    const { id, workspace } = caller.record;
    const retryAfterMs = openAnswersRetryMs;
    if (this.#counts.of(id) >= openAnswersPerKeyMax || this.#counts.of(workspace) >= openAnswersPerWorkspaceMax) {
      const message = `At most ${openAnswersPerKeyMax} answers of a key and ${openAnswersPerWorkspaceMax} of its workspace may be open`;
      throw asGatewayError(new LimitReachedError(message, { status: 429, retryAfterMs }), caller);
    }
    if (this.#inFlight.size < openAnswersMax) return;
    throw asGatewayError(new LimitReachedError("Too many answers are open", { status: 503, retryAfterMs }), caller);
  }

  /** Resolves when all requests in flight now have ended, or after `waitMs`; others may have begun meanwhile. */
  async presentRequestsEnded(clock: Clock, waitMs: number): Promise<void> {
    const present = [...this.#inFlight.keys()];
    const endsAt = clock.monotonic() + waitMs;
    while (clock.monotonic() < endsAt && present.some((one) => this.#inFlight.has(one))) await sleep(clock, inFlightPollMs);
  }

  /** Waits until all requests end; after `waitMs` stops the rest and waits for their settlements. */
  async drain(clock: Clock, waitMs: number, endMs: number): Promise<void> {
    await this.#empty(clock, waitMs);
    for (const answer of this.#inFlight.keys()) answer.stop();
    await this.#empty(clock, endMs);
  }

  async #empty(clock: Clock, waitMs: number): Promise<void> {
    if (this.#inFlight.size === 0) return;
    await Promise.race([new Promise<void>((resolve) => this.#whenEmpty.push(resolve)), sleep(clock, waitMs)]);
  }
}
