/** Waits for a stream's first event before anything is sent to the client: until then a failure is an ordinary error. */
import type { ReportedUsage } from "../../models/model.ts";
import { UpstreamFailure, type ProviderEventStream, type EventReceiver, type ProviderEvent } from "../../providers/provider.ts";
import { mergeUsage } from "../response/merge-usage.ts";

/**
 * Waits for the first event that is neither a usage count nor a role that a failure follows at once: some providers send these before
 * they fail.
 * @param onUsage told the counts meanwhile: a client that leaves now, or a successor of this process, is charged by them
 * @returns the stream from its beginning
 * @throws UpstreamFailure when it fails or ends there
 */
export async function withFirstEvent(
  events: ProviderEventStream,
  onUsage: (usage: ReportedUsage) => void,
): Promise<ProviderEventStream> {
  let usage: ReportedUsage | null = null;
  for (;;) {
    const received = await new Promise<readonly ProviderEvent[]>((resolve) => events.next({ take: resolve }));
    if (received.length === 0) throw new UpstreamFailure("upstream_error", "the stream ended before it began");
    // The first event that says something: with a failure there nothing has been delivered.
    const failsFirst = received.find((event) => event.kind !== "usage" && !saysNothing(event))?.kind === "failure";
    for (const [index, event] of received.entries()) {
      if (event.kind === "failure") throw event.failure;
      if (event.kind !== "usage" && saysNothing(event) && failsFirst) continue;
      if (event.kind !== "usage") return new Replay(usage, received.slice(index), events);
      usage = mergeUsage(usage, event.usage);
      onUsage(usage);
    }
  }
}

/** Whether it is the role alone, with which most providers begin. */
function saysNothing(event: ProviderEvent): boolean {
  if (event.kind !== "delta" || event.finishReason !== null || event.logprobs !== undefined) return false;
  return Object.entries(event.delta).every(([name, value]) => name === "role" || value === "" || value === null);
}

class Replay implements ProviderEventStream {
  readonly #events: ProviderEventStream;
  #seen: readonly ProviderEvent[] | null;

  constructor(usage: ReportedUsage | null, seen: readonly ProviderEvent[], events: ProviderEventStream) {
    this.#seen = usage === null ? seen : [{ kind: "usage", usage }, ...seen];
    this.#events = events;
  }

  next(receiver: EventReceiver): void {
    const seen = this.#seen;
    this.#seen = null;
    if (seen === null) this.#events.next(receiver);
    else receiver.take(seen);
  }

  cancel(): Promise<void> {
    return this.#events.cancel();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cancel();
  }
}
