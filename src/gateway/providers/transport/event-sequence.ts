/**
 * The events of one stream, from the data of its server-sent events to the end of its body: what may follow what, and when nothing more of
 * the answer will come. A finish reason is enough for an end, since not every provider marks it, except within a call of a tool that went
 * on after it: the body of such a stream may end in the middle of the call's arguments.
 */
import { callGraceMs, finishGraceMs, streamTailMs } from "../../limits.ts";
import { UpstreamFailure, type DeltaEvent, type FinishReason, type ProviderEvent } from "../provider.ts";
import { asArray, asObject, asText, WholeObject } from "../wire/json.ts";

/** Given to the decoder if the body ends after a finish reason without this mark. */
const endMark = "[DONE]";

export class EventSequence {
  readonly #decode: (data: string) => ProviderEvent[];
  #finish: FinishReason | null = null;
  /** The provider has counted both sides. */
  #counted = false;
  /** It has done so after its finish reason, in an event of its own: nothing more of the answer will come. */
  #settled = false;
  readonly #calls = new OpenCalls();

  constructor(decode: (data: string) => ProviderEvent[]) {
    this.#decode = decode;
  }

  /** A finish reason has arrived. */
  get finishSeen(): boolean {
    return this.#finish !== null;
  }

  /** A call has gone on after the finish reason and is not complete. */
  get isInCall(): boolean {
    return this.#calls.some;
  }

  /** How long to wait for the end after a finish reason, if nothing more comes. */
  get graceMs(): number {
    if (this.#settled) return streamTailMs;
    if (this.#finish === "tool_calls" || this.#finish === "function_call") return callGraceMs;
    return this.#counted ? streamTailMs : finishGraceMs;
  }

  /** Appends the events of this data up to the end or a failure. @returns whether one of these came */
  take(data: string, events: ProviderEvent[]): boolean {
    let countsAlone = this.#finish !== null;
    for (const event of this.#decode(data)) {
      events.push(event);
      if (event.kind === "end" || event.kind === "failure") return true;
      if (event.kind === "usage") {
        this.#counted ||= Boolean(event.usage.promptTokens && event.usage.completionTokens);
        this.#settled = countsAlone && this.#counted;
      } else {
        countsAlone = false;
        this.#settled = false;
        if (event.kind === "thought") continue;
        if (event.finishReason !== null) this.#finish = event.finishReason;
        if ("tool_calls" in event.delta || "function_call" in event.delta || event.finishReason !== null) this.#calls.take(event);
      }
    }
    return false;
  }

  /** Appends the last events of a body that ended. Not every provider marks the end; a finish reason is enough, except within a call. */
  end(events: ProviderEvent[]): void {
    if (this.#finish === null || this.isInCall)
      events.push({ kind: "failure", failure: new UpstreamFailure("upstream_error", "the stream broke off") });
    else if (!this.take(endMark, events)) events.push({ kind: "end" });
  }
}

/** Which calls of tools go on after a finish reason. */
class OpenCalls {
  /** What arrived of each call's arguments, by its index; null: of a function in the older form. */
  readonly #byIndex = new Map<unknown, WholeObject>();
  /** Those that got something after the last finish reason, and whose arguments are not a closed object. */
  readonly #goOn = new Set<WholeObject>();

  /** Whether some call has gone on after the last finish reason, and is not complete. */
  get some(): boolean {
    return this.#goOn.size > 0;
  }

  take({ delta, finishReason }: DeltaEvent): void {
    for (const value of asArray(delta["tool_calls"])) {
      const { index, function: called, custom } = asObject(value) ?? {};
      this.#feed(index, asObject(called)?.["arguments"] ?? asObject(custom)?.["input"]);
    }
    const called = asObject(delta["function_call"]);
    if (called !== null) this.#feed(null, called["arguments"]);
    if (finishReason !== null) this.#goOn.clear();
  }

  #feed(index: unknown, text: unknown): void {
    const call = this.#byIndex.get(index) ?? new WholeObject();
    this.#byIndex.set(index, call);
    call.feed(asText(text) ?? "");
    if (call.closed) this.#goOn.delete(call);
    else this.#goOn.add(call);
  }
}
