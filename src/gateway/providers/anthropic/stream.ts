/**
 * Decodes the events of a streamed message. Each event's data names its type; unknown types are ignored. Block numbers include texts and
 * thoughts, and some servers give every block the same one, so calls are counted here. The stream ends with its last event, or with its
 * body where a compatible server sends none.
 */
import type { Route } from "../../models/model.ts";
import { asObject, asText, parseJson, type JsonObject } from "../wire/json.ts";
import type { AnswerWants, ProviderEvent } from "../provider.ts";
import { mintedToolCallId } from "../../tool-call-id.ts";
import { namelessCall, wholeArguments } from "../openai/tool-calls.ts";
import { broken, toldFailure } from "../wire/errors.ts";
import { anthropicFailureIn } from "./errors.ts";
import { KeptCalls } from "../wire/answers.ts";
import { anthropicFinishReason, AnthropicUsage, stopWordOf } from "./answer.ts";
import { SealedThoughts, ThoughtsBeforeCalls } from "./thoughts.ts";

/** Decodes the data of one event after another; see `WireFormat.streamDecoder`. */
export function anthropicStreamDecoder(route?: Route, wants?: AnswerWants): (data: string) => ProviderEvent[] {
  const stream = new AnthropicStream(route, wants);
  return (data) => stream.take(data);
}

interface ToolCall {
  /** The call's position among the answer's calls; the API numbers blocks together with texts and thoughts. */
  index: number;
  /** Input that the block's start contained whole. */
  input: unknown;
  argued: boolean;
}

class AnthropicStream {
  readonly #usage = new AnthropicUsage();
  /** Block number → its tool call. Some servers give every block the same number. */
  readonly #calls = new Map<unknown, ToolCall>();
  #called = 0;
  readonly #kept = new KeptCalls();
  readonly #thoughts: ThoughtsBeforeCalls;
  /** null: thoughts travel in the ids of calls. */
  readonly #sealed: SealedThoughts | null;
  /** The answer's id. */
  #id: unknown = null;
  #begun = false;
  /** The answer contains a text, a thought or a call. */
  #hasContent = false;
  #finished = false;

  constructor(route?: Route, wants?: AnswerWants) {
    this.#thoughts = new ThoughtsBeforeCalls(wants ? undefined : route);
    this.#sealed = wants ? new SealedThoughts() : null;
  }

  take(data: string): ProviderEvent[] {
    // The end of the body, or the mark that some compatible servers send.
    if (data === "[DONE]") return this.#finished ? this.#end() : [];
    const event = asObject(parseJson(data));
    if (event === null) return [broken("an event is not a JSON object")];
    if (event["error"]) return failuresIn(event, this.#hasContent);
    switch (event["type"]) {
      case "message_start":
        this.#begun = true;
        this.#id = asObject(event["message"])?.["id"];
        this.#usage.takePrompt(asObject(event["message"])?.["usage"]);
        return this.#counted();
      case "content_block_start":
        return this.#say(this.#openBlock(event["index"], asObject(event["content_block"]) ?? {}));
      case "content_block_delta":
        return this.#say(this.#takePiece(event["index"], asObject(event["delta"]) ?? {}));
      case "content_block_stop":
        return [...this.#sealThought(), ...this.#closeBlock(event["index"])];
      case "message_delta":
        this.#usage.take(event["usage"]);
        return [...this.#counted(), ...this.#finish(asObject(event["delta"]) ?? {})];
      case "message_stop":
        if (!this.#begun && !this.#hasContent) return [broken("the stream ended before it began")];
        return [...this.#finish({ stop_reason: "" }), ...this.#end()];
      default:
        return failuresIn(event, this.#hasContent);
    }
  }

  #say(events: ProviderEvent[]): ProviderEvent[] {
    this.#hasContent ||= events.length > 0;
    return events;
  }

  #openBlock(block: unknown, opened: JsonObject): ProviderEvent[] {
    const { type, id, name, input, text, thinking } = opened;
    this.#thoughts.block(opened);
    const before = this.#sealed?.block(opened) ?? [];
    if (type === "text") return [...before, ...textDelta("content", text)];
    if (type === "thinking") return [...before, ...textDelta("reasoning_content", thinking)];
    if (type !== "tool_use") return before;
    const called = asText(name) ?? "";
    if (called === "") return [broken(namelessCall)];
    this.#kept.begin(asText(id) ?? "", called);
    const unclosed = this.#closeBlock(block);
    const index = this.#called++;
    this.#calls.set(block, { index, input, argued: false });
    const signed = this.#thoughts.signed(asText(id) || mintedToolCallId(this.#id, index));
    return [
      ...before,
      ...unclosed,
      callDelta({ index, id: signed, type: "function", function: { name: called, arguments: "" } }),
    ];
  }

  #takePiece(block: unknown, delta: JsonObject): ProviderEvent[] {
    const { type, text, thinking, partial_json } = delta;
    this.#thoughts.delta(delta);
    this.#sealed?.delta(delta);
    if (type === "text_delta") return textDelta("content", text);
    if (type === "thinking_delta") return textDelta("reasoning_content", thinking);
    const call = type === "input_json_delta" ? this.#calls.get(block) : undefined;
    return call === undefined ? [] : argue(call, asText(partial_json) ?? "");
  }

  /** The API sends no piece for a call without arguments, and clients cannot parse an empty text. */
  #closeBlock(block: unknown): ProviderEvent[] {
    const call = this.#calls.get(block);
    return call === undefined || call.argued ? [] : argue(call, wholeArguments(call.input));
  }

  #sealThought(): ProviderEvent[] {
    return this.#sealed?.end() ?? [];
  }

  #counted(): ProviderEvent[] {
    const usage = this.#usage.usage();
    return usage === null ? [] : [{ kind: "usage", usage }];
  }

  /** @param said has no reason if it has not arrived yet */
  #finish(said: JsonObject): ProviderEvent[] {
    const stopReason = asText(said["stop_reason"]);
    if (stopReason === null || this.#finished) return [];
    const finishReason = anthropicFinishReason(stopReason, this.#called > 0);
    if (finishReason === null) return [broken("the provider reports a failure")];
    this.#finished = true;
    const stop = this.#sealed === null ? undefined : stopWordOf(said);
    return [...this.#sealThought(), { kind: "delta", delta: {}, finishReason, ...(stop && { stop }) }];
  }

  /** Some servers do not mark the end of their blocks. */
  #end(): ProviderEvent[] {
    return [...[...this.#calls.keys()].flatMap((block) => this.#closeBlock(block)), { kind: "end" }];
  }
}

function textDelta(field: "content" | "reasoning_content", text: unknown): ProviderEvent[] {
  return asText(text) ? [{ kind: "delta", delta: { [field]: text }, finishReason: null }] : [];
}

function callDelta(piece: JsonObject): ProviderEvent {
  return { kind: "delta", delta: { tool_calls: [piece] }, finishReason: null };
}

function argue(call: ToolCall, text: string): ProviderEvent[] {
  if (text === "") return [];
  call.argued = true;
  return [callDelta({ index: call.index, function: { arguments: text } })];
}

/** The failure that an event reports; none if the event only has an unknown type. */
function failuresIn(event: JsonObject, begun: boolean): ProviderEvent[] {
  const error = toldFailure(event, { begun });
  return error === null ? [] : [{ kind: "failure", failure: anthropicFailureIn(error) }];
}
