/** Which calls of tools go on after a finish reason: the body of a stream may end in the middle of one. */
import type { ProviderEvent } from "../provider.ts";
import { asArray, asObject, asText } from "../wire/json.ts";
import { WholeObject } from "../wire/whole-object.ts";

type Delta = Extract<ProviderEvent, { kind: "delta" }>;

export class OpenCalls {
  /** What arrived of each call's arguments, by its index; null: of a function in the older form. */
  readonly #byIndex = new Map<unknown, WholeObject>();
  /** Those that got something after the last finish reason, and whose arguments are no closed object. */
  readonly #goOn = new Set<WholeObject>();

  /** Whether some call has gone on after the last finish reason, and is not complete. */
  get some(): boolean {
    return this.#goOn.size > 0;
  }

  take({ delta, finishReason }: Delta): void {
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
