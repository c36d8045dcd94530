/** The events of one stream, from the data of its server-sent events to the end of its body. */
import { UpstreamFailure, type ProviderEvent } from "../provider.ts";

/** What every decoder takes for the end of an answer; it is given where the body ends without such a mark. */
const endMark = "[DONE]";

export class EventSequence {
  readonly #decode: (data: string) => ProviderEvent[];
  #finishSeen = false;
  #counted = false;

  constructor(decode: (data: string) => ProviderEvent[]) {
    this.#decode = decode;
  }

  /** A finish reason has arrived. */
  get finishSeen(): boolean {
    return this.#finishSeen;
  }

  /** The provider has counted both sides. */
  get counted(): boolean {
    return this.#counted;
  }

  /** Appends the events of this data, up to the end or the failure. @returns whether that has come */
  take(data: string, events: ProviderEvent[]): boolean {
    for (const event of this.#decode(data)) {
      events.push(event);
      if (event.kind === "end" || event.kind === "failure") return true;
      if (event.kind === "usage") this.#counted ||= Boolean(event.usage.promptTokens && event.usage.completionTokens);
      else if (event.finishReason !== null) this.#finishSeen = true;
    }
    return false;
  }

  /** Appends the last events of a body that ended. Not every provider marks the end; a finish reason is as good. */
  end(events: ProviderEvent[]): void {
    if (!this.#finishSeen)
      events.push({ kind: "failure", failure: new UpstreamFailure("upstream_error", "the stream broke off") });
    else if (!this.take(endMark, events)) events.push({ kind: "end" });
  }
}
