/** Looks at a stream's first event before anything is sent to the client: up to there a failure is an ordinary error. */
import type { Usage } from "../models/model.ts";
import { UpstreamFailure, type EventSource, type ProviderEvent } from "../providers/provider.ts";
import { laterUsage } from "./later-usage.ts";

/**
 * Waits for the first event that tells how the answer goes: some providers count the prompt first and fail then.
 * @returns the stream from its beginning
 * @throws UpstreamFailure when it fails or ends there
 */
export async function withFirstEvent(events: EventSource): Promise<EventSource> {
  let usage: Usage | null = null;
  for (;;) {
    const event = await events.next();
    if (event === null) throw new UpstreamFailure("upstream_error", "the stream ended before it began");
    if (event.kind === "failure") throw event.failure;
    if (event.kind !== "usage") return replay(usage === null ? [event] : [{ kind: "usage", usage }, event], events);
    usage = laterUsage(usage, event.usage);
  }
}

function replay(seen: ProviderEvent[], events: EventSource): EventSource {
  return {
    next: () => {
      const event = seen.shift();
      return event ? Promise.resolve(event) : events.next();
    },
    cancel: () => events.cancel(),
    [Symbol.asyncDispose]: () => events[Symbol.asyncDispose](),
  };
}
