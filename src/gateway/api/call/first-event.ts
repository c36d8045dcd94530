/** Looks at a stream's first event before anything is sent to the client: up to there a failure is an ordinary error. */
import type { ReportedUsage } from "../../models/model.ts";
import { UpstreamFailure, type ProviderEventStream, type EventReceiver, type ProviderEvent } from "../../providers/provider.ts";
import { mergeUsage } from "../response/merge-usage.ts";

/**
 * Waits for the first event that tells how the answer goes: some providers count the prompt first and fail then.
 * @returns the stream from its beginning
 * @throws UpstreamFailure when it fails or ends there
 */
export async function withFirstEvent(events: ProviderEventStream): Promise<ProviderEventStream> {
  let usage: ReportedUsage | null = null;
  for (;;) {
    const news = await new Promise<readonly ProviderEvent[]>((resolve) => events.next({ take: resolve }));
    if (news.length === 0) throw new UpstreamFailure("upstream_error", "the stream ended before it began");
    for (const [index, event] of news.entries()) {
      if (event.kind === "failure") throw event.failure;
      if (event.kind !== "usage") return new Replay(usage, news.slice(index), events);
      usage = mergeUsage(usage, event.usage);
    }
  }
}

class Replay implements ProviderEventStream {
  readonly #events: ProviderEventStream;
  #seen: readonly ProviderEvent[] | null;

  constructor(usage: ReportedUsage | null, seen: readonly ProviderEvent[], events: ProviderEventStream) {
    this.#seen = usage === null ? seen : [{ kind: "usage", usage }, ...seen];
    this.#events = events;
  }

  next(taker: EventReceiver): void {
    const seen = this.#seen;
    this.#seen = null;
    if (seen === null) this.#events.next(taker);
    else taker.take(seen);
  }

  cancel(): Promise<void> {
    return this.#events.cancel();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cancel();
  }
}
