/**
 * Calls a provider, and retries once where that may help and is allowed. Nothing has reached the client yet, so the second answer is
 * as good as the first; only the answer that is served is charged. If the transport sends a request again because a kept connection
 * closed, that counts as the retry, with and without fallbacks, and stays on the same route.
 */
import type { Reservation } from "../../credit/reservation.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { StopSignal } from "../../../kernel/stop-signal.ts";
import type { Route } from "../../models/model.ts";
import {
  UpstreamFailure,
  type WholeAnswer,
  type ChatBody,
  type ProviderEventStream,
  type ProviderAnswer,
  type ProviderCall,
} from "../../providers/provider.ts";
import { withFirstEvent } from "./first-event.ts";
import { nextRoute } from "./next-route.ts";

export interface Attempt {
  route: Route;
  failure: UpstreamFailure;
}

/** @param givenUp aborts the call while it is not answered. @param onSent called when the request is on its way to the provider */
export type CallRoute = (call: ProviderCall, givenUp: StopSignal, onSent: () => void) => Promise<ProviderAnswer>;

export interface AttemptsOptions {
  reservation: Pick<Reservation, "generation" | "maxOutputTokens">;
  chat: ChatBody;
  streamed: boolean;
  /** The routes that may serve, in order of preference; at least one. */
  routes: readonly [Route, ...Route[]];
  fallbacks: boolean;
  callRoute: CallRoute;
  clock: Clock;
}

export type AttemptsResult =
  /** `calledAt`: monotonic milliseconds when this route was called. */
  | { kind: "whole"; route: Route; calledAt: number; answer: WholeAnswer; failed: Attempt[] }
  | { kind: "stream"; route: Route; calledAt: number; events: ProviderEventStream; failed: Attempt[] }
  | { kind: "failed"; route: Route; failure: UpstreamFailure; failed: Attempt[] };

export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #failed: Attempt[] = [];
  readonly #givenUp = new StopSignal();
  #route: Route;
  #mayRetry: boolean;
  #calledAt: number;
  #sentAt: number | null = null;

  constructor(options: AttemptsOptions) {
    this.#options = options;
    this.#route = options.routes[0];
    this.#mayRetry = options.fallbacks;
    this.#calledAt = options.clock.monotonic();
  }

  /** The route of the current or last call. */
  get route(): Route {
    return this.#route;
  }

  get failed(): Attempt[] {
    return this.#failed;
  }

  /** Monotonic milliseconds: when the current route was called. */
  get calledAt(): number {
    return this.#calledAt;
  }

  /** Monotonic milliseconds: when the request was last sent to a provider; null: never. */
  get sentAt(): number | null {
    return this.#sentAt;
  }

  /** `abort` was called. */
  get givenUp(): boolean {
    return this.#givenUp.stopped;
  }

  /** The current call is the last one. */
  disableRetry(): void {
    this.#mayRetry = false;
  }

  /** Aborts the current call, or the stream before its first event. */
  abort(): void {
    this.#mayRetry = false;
    this.#givenUp.stop();
  }

  /** Rejects only with errors that are not a provider's failure. */
  async run(): Promise<AttemptsResult> {
    for (;;) {
      try {
        return { ...(await this.#try()), route: this.#route, calledAt: this.#calledAt, failed: this.#failed };
      } catch (failure) {
        if (!(failure instanceof UpstreamFailure)) throw failure;
        this.#failed.push({ route: this.#route, failure });
        const next = this.#mayRetry ? nextRoute({ code: failure.code, failed: this.#route, routes: this.#options.routes }) : null;
        if (next === null) return { kind: "failed", route: this.#route, failure, failed: this.#failed };
        this.#route = next;
        this.#mayRetry = false;
      }
    }
  }

  async #try(): Promise<{ kind: "whole"; answer: WholeAnswer } | { kind: "stream"; events: ProviderEventStream }> {
    const { reservation, chat, streamed, callRoute, clock } = this.#options;
    const { generation, maxOutputTokens } = reservation;
    const givenUp = this.#givenUp;
    if (givenUp.stopped) throw new UpstreamFailure("upstream_error", "the call was aborted before it began");
    this.#calledAt = clock.monotonic();
    this.#sentAt = null;
    const onSent = (): void => void (this.#sentAt = clock.monotonic());
    const second = this.#failed.length > 0;
    const onResent = () => (this.#mayRetry = false);
    const call = { generation, route: this.#route, chat, maxOutputTokens, streamed, second, onResent };
    const answer = await callRoute(call, givenUp, onSent);
    if (answer.kind === "whole") return answer;
    givenUp.listen(() => void answer.events.cancel().catch(() => {}));
    try {
      return { kind: "stream", events: await withFirstEvent(answer.events) };
    } finally {
      givenUp.listen(null);
    }
  }
}
