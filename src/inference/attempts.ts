/**
 * Calls a provider, and once more where that may help and is allowed. Nothing has reached the client yet, so the second
 * answer is as good as the first; only the one that is served is charged.
 */
import type { Reservation } from "../credit/reservation.ts";
import { Stop } from "../kernel/stop.ts";
import type { Route } from "../models/model.ts";
import {
  UpstreamFailure,
  type Answer,
  type ChatBody,
  type EventSource,
  type ProviderAnswer,
  type ProviderCall,
} from "../providers/provider.ts";
import { withFirstEvent } from "./first-event.ts";
import { nextRoute } from "./next-route.ts";

export interface Attempt {
  route: Route;
  failure: UpstreamFailure;
}

/** @param givenUp ends the call while it is not answered */
export type Provide = (call: ProviderCall, givenUp: Stop) => Promise<ProviderAnswer>;

export interface AttemptsOptions {
  reservation: Pick<Reservation, "generation" | "maxOutputTokens">;
  chat: ChatBody;
  streamed: boolean;
  /** Those that may serve, in order of preference; at least one. */
  routes: readonly [Route, ...Route[]];
  fallbacks: boolean;
  provide: Provide;
}

export type Opened =
  | { kind: "whole"; route: Route; answer: Answer; failed: Attempt[] }
  | { kind: "stream"; route: Route; events: EventSource; failed: Attempt[] }
  | { kind: "failed"; route: Route; failure: UpstreamFailure; failed: Attempt[] };

export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #failed: Attempt[] = [];
  readonly #givenUp = new Stop();
  #route: Route;
  #mayRetry: boolean;

  constructor(options: AttemptsOptions) {
    this.#options = options;
    this.#route = options.routes[0];
    this.#mayRetry = options.fallbacks;
  }

  /** The one that is being tried, or was last. */
  get route(): Route {
    return this.#route;
  }

  get failed(): Attempt[] {
    return this.#failed;
  }

  /** The try under way is the last one. */
  settleForThis(): void {
    this.#mayRetry = false;
  }

  /** Gives up: ends the call under way, or the stream before its first event. */
  abort(): void {
    this.#mayRetry = false;
    this.#givenUp.stop();
  }

  /** Rejects only with what is no failure of a provider. */
  async run(): Promise<Opened> {
    for (;;) {
      try {
        return { ...(await this.#try()), route: this.#route, failed: this.#failed };
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

  async #try(): Promise<{ kind: "whole"; answer: Answer } | { kind: "stream"; events: EventSource }> {
    const { reservation, chat, streamed, provide } = this.#options;
    const { generation, maxOutputTokens } = reservation;
    const givenUp = this.#givenUp;
    if (givenUp.stopped) throw new UpstreamFailure("upstream_error", "given up before it was made");
    const answer = await provide({ generation, route: this.#route, chat, maxOutputTokens, streamed }, givenUp);
    if (answer.kind === "whole") return answer;
    givenUp.listen(() => void answer.events.cancel().catch(() => {}));
    try {
      return { kind: "stream", events: await withFirstEvent(answer.events) };
    } finally {
      givenUp.listen(null);
    }
  }
}
