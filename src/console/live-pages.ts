/**
 * Pages that refresh themselves. A browser sends the tag of the version that it shows, and most answers are "not modified", which costs one
 * small query; only when something is new the page is rendered.
 *
 * All these renderings together get a tenth of the time: after each, the next one waits nine times as long as it took. So forty open tabs
 * cost a busy gateway no more than one that is reloaded now and then, and when everything changes all the time they refresh in turn, by
 * workspace and person, as often as that allows. Pages that a person opens have turns of their own and never wait for these.
 */
import { createHash } from "node:crypto";
import { CallRateLimiter } from "../accounts/quotas/call-rate-limiter.ts";
import { Turns, type Turn } from "../accounts/quotas/fair-semaphore.ts";
import type { Lane } from "../accounts/quotas/lane.ts";
import { sleep, type Clock } from "../kernel/clock.ts";
import * as limits from "./limits.ts";
import { consoleStyle } from "./look/frame.ts";
import type { Page, PageCall } from "./page.ts";
import { isPoll } from "./viewer.ts";

/** What a page that is asked for again has to pass before it is rendered. */
export interface Poll {
  /** Of the version that the browser shows. */
  tag: string;
  /** Renders in turn. @throws LimitReachedError */
  inTurn<Result>(render: () => Promise<Result>): Promise<Result>;
}

const busy = "Too many pages refresh themselves right now";

export class LivePages {
  readonly #clock: Clock;
  readonly #rate: CallRateLimiter;
  readonly #questions: Turns;
  readonly #renderings: Turns;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#rate = new CallRateLimiter({
      clock,
      what: "the live pages of one person",
      perMinuteDefault: limits.livePollsPerMinuteMax,
    });
    const atOnce = { runningMax: limits.livePollsAtOnceMax, runningPerHolderMax: limits.livePollsPerPersonMax };
    this.#questions = new Turns({
      clock,
      busy,
      limits: { ...atOnce, waitingMax: 0, waitingPerHolderMax: 0, waitMs: limits.liveWaitMs },
    });
    const inTurn = { runningMax: 1, runningPerHolderMax: 1 };
    const waiting = { waitingMax: limits.livePollsAtOnceMax, waitingPerHolderMax: limits.livePollsPerPersonMax };
    this.#renderings = new Turns({ clock, busy, limits: { ...inTurn, ...waiting, waitMs: limits.liveWaitMs } });
  }

  /** null: the browser asks for the page itself. @throws LimitReachedError */
  pollOf(page: Page, request: Request, lane: Lane): Poll | null {
    const tag = request.headers.get("if-none-match");
    if (!isPoll(request) || tag === null || page.changes === undefined) return null;
    this.#rate.count(lane.member, null);
    return { tag, inTurn: (render) => this.#render(lane, render) };
  }

  /** The turn of a question, which it keeps while it waits. @throws LimitReachedError */
  take(lane: Lane): Promise<Turn> {
    return this.#questions.take(lane);
  }

  async #render<Result>(lane: Lane, render: () => Promise<Result>): Promise<Result> {
    using turn = await this.#renderings.take(lane);
    const startedMs = this.#clock.monotonic();
    try {
      return await turn.keepFor(render());
    } finally {
      const restMs = Math.min((this.#clock.monotonic() - startedMs) * limits.liveRestFactor, limits.liveRestMsMax);
      if (restMs > 0) void turn.keepFor(sleep(this.#clock, restMs));
    }
  }
}

/**
 * The tag of what the page shows now. It is of the viewer, their role and the version of the style, too, so that no one compares with what
 * another one sees. null: the page does not refresh itself.
 */
export async function tagOf({ changes }: Pick<Page, "changes">, call: PageCall): Promise<string | null> {
  const shown = (await changes?.(call)) ?? null;
  if (shown === null) return null;
  const all = [shown, call.viewer.session.id, call.workspace.role, consoleStyle.element];
  return `"${createHash("sha256").update(all.join("\n")).digest("base64url").slice(0, 22)}"`;
}

/** The answer to a browser that has the newest version. */
export function unchanged(tag: string): Response {
  return new Response(null, { status: 304, headers: { etag: tag, "cache-control": "no-store" } });
}
