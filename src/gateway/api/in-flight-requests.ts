/** Answers under way in this process: what a shutdown waits for, and ends when it has waited long enough. */
import type { Caller } from "../admission/client/client.ts";
import { sleep, type Clock } from "../../kernel/clock.ts";
import {
  inFlightPollMs,
  openAnswersMax,
  openAnswersPerKeyMax,
  openAnswersPerWorkspaceMax,
  openAnswersRetryMs,
} from "../limits.ts";
import { StopSignal } from "../../kernel/stop-signal.ts";
import { HolderCounts } from "../../accounts/quotas/holder-counts.ts";
import { LimitReachedError } from "../../accounts/quotas/limit-reached.ts";
import { asGatewayError } from "./request/load-limits.ts";

/** Whose answer it is. */
interface Holder {
  key: string;
  workspace: string;
}

export class InFlightRequests {
  readonly #inFlight = new Map<StopSignal, Holder>();
  /** By key and by workspace. */
  readonly #counts = new HolderCounts();
  #whenEmpty: (() => void)[] = [];

  get size(): number {
    return this.#inFlight.size;
  }

  /** Begins an answer, which is told when the process cannot wait any longer; call `done` when it has ended. */
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
   * Whether one more may begin. Those that are being admitted meanwhile are not counted yet: a bound for what holds memory, not for money.
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

  /** Resolves when all that are under way now have ended, or after `waitMs`; others may have begun meanwhile. */
  async presentRequestsEnded(clock: Clock, waitMs: number): Promise<void> {
    const present = [...this.#inFlight.keys()];
    const endsAt = clock.monotonic() + waitMs;
    while (clock.monotonic() < endsAt && present.some((one) => this.#inFlight.has(one))) await sleep(clock, inFlightPollMs);
  }

  /** Waits for all to end by themselves; after `waitMs` ends the rest and waits for their settlements. */
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
