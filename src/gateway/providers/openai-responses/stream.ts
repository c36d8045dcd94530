/**
 * Decodes the events of a streamed response. Each event's data names its type; unknown types are ignored. The last event is one of
 * `response.completed`, `response.incomplete` and `response.failed`, with the whole response. A text may come in pieces, at its end, or
 * both, so the end of an item adds only what no piece of it contained. Items are found by place, id and call, since servers omit or change
 * some of these.
 */
import type { Route } from "../../models/model.ts";
import { UpstreamFailure, type AnswerWants, type ProviderEvent } from "../provider.ts";
import { responsesFailureIn } from "./errors.ts";
import { broken } from "../wire/errors.ts";
import { asArray, asObject, asText, parseJson, type JsonObject } from "../wire/json.ts";
import { KeptCalls, signerOf } from "../wire/answers.ts";
import {
  responsesFinishReason,
  callKindOf,
  callOf,
  callText,
  logprobsOf,
  paragraphEnd,
  reasoningIn,
  saidIn,
  thoughtEnd,
  type CallKind,
  ResponsesUsage,
} from "./answer.ts";

/** Decodes the data of one event after another; see `WireFormat.streamDecoder`. */
export function responsesStreamDecoder(route?: Route, wants?: AnswerWants): (data: string) => ProviderEvent[] {
  const stream = new ResponsesStream(route === undefined ? null : signerOf(route), wants !== undefined);
  return (data) => stream.take(data);
}

interface OpenCall {
  index: number;
  /** As the server gave it; null if it gave none. */
  id: string | null;
  kind: CallKind;
  argued: boolean;
}

class ResponsesStream {
  /** null: no call gets reasoning in its id. */
  readonly #signer: string | null;
  /** Each reasoning item ends with its encrypted form. */
  readonly #endsThoughts: boolean;
  /** Some have ended so, and the last event repeats them. */
  #thoughtsEnded = false;
  #isRepeating = false;
  readonly #usage = new ResponsesUsage();
  /** The calls so far, by each name of their item (`namesOf`). */
  readonly #calls = new Map<unknown, OpenCall>();
  #called = 0;
  readonly #kept = new KeptCalls();
  /** The names of the items of which a piece arrived, so that their end does not repeat it. */
  readonly #begun = new Set<unknown>();
  /** The last `encrypted_content`: that of the reasoning before the next call. */
  #encrypted: unknown = null;
  /** By field of our message: the part whose text arrived last. */
  readonly #parts = new Map<string, string>();
  /** The response's id. */
  #id: unknown = null;

  constructor(signer: string | null, wantsThoughts: boolean) {
    this.#signer = wantsThoughts ? null : signer;
    this.#endsThoughts = wantsThoughts;
  }

  take(data: string): ProviderEvent[] {
    const text = data.trim();
    // Some servers send their keep-alive comments as data.
    if (text === "" || text.startsWith(":")) return [];
    const event = asObject(parseJson(text));
    if (event === null)
      return [broken(text === "[DONE]" ? "the stream ended before its response" : "an event is not a JSON object")];
    try {
      return this.#newsOf(event);
    } catch (error) {
      if (error instanceof UpstreamFailure) return [{ kind: "failure", failure: error }];
      throw error;
    }
  }

  #newsOf(event: JsonObject): ProviderEvent[] {
    const { type } = event;
    switch (type) {
      case "response.output_text.delta":
        return this.#say("content", event);
      case "response.refusal.delta":
        return this.#say("refusal", event);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.#think(event, asText(event["delta"]) ?? "");
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return this.#argue(this.#callAt(namesOf(event)), asText(event["delta"]) ?? "");
      case "response.output_item.added":
        return this.#begin(namesOf(event), asObject(event["item"]) ?? {});
      case "response.output_item.done":
        return this.#close(namesOf(event), asObject(event["item"]) ?? {});
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#end(asObject(event["response"]) ?? {}, String(type).slice("response.".length));
      default:
        if (type === "error" || event["error"])
          return [{ kind: "failure", failure: responsesFailureIn(event["error"] || event) }];
        return this.#counted(asObject(event["response"]));
    }
  }

  #say(field: "content" | "refusal", event: JsonObject): ProviderEvent[] {
    const text = asText(event["delta"]) ?? "";
    if (text === "") return [];
    const names = namesOf(event);
    this.#markBegun(names);
    return [said({ [field]: this.#separator(field, String(names[0])) + text }, asArray(event["logprobs"]))];
  }

  #think(event: JsonObject, text: string): ProviderEvent[] {
    if (text === "") return [];
    const names = namesOf(event);
    this.#markBegun(names);
    const [inner = ""] = [event["summary_index"], event["content_index"]].filter(isName);
    const part = `${names[0]} ${inner}`;
    return [said({ reasoning_content: this.#separator("reasoning_content", part) + text })];
  }

  /** The separator between the previous part's text and this one's. */
  #separator(field: string, part: string): string {
    const last = this.#parts.get(field) ?? part;
    this.#parts.set(field, part);
    return last === part ? "" : paragraphEnd;
  }

  /** Arguments may come in pieces, at the end, or both: the item's start has none, or all of them, which its end repeats. */
  #open(names: Names, item: JsonObject): ProviderEvent[] {
    const kind = callKindOf(item);
    if (kind === null || this.#callAt(names) !== undefined) return [];
    return this.#announce(kind, names, item);
  }

  /** Some servers give every item the same place; a new id then means a new call. */
  #begin(names: Names, item: JsonObject): ProviderEvent[] {
    const kind = callKindOf(item);
    if (kind === null) return [];
    const here = this.#callAt(names)?.id ?? null;
    const id = asText(item["call_id"]);
    return here !== null && id !== null && here !== id ? this.#announce(kind, names, item) : this.#open(names, item);
  }

  #announce(kind: CallKind, names: Names, item: JsonObject): ProviderEvent[] {
    this.#kept.begin(asText(item["call_id"]) ?? "", asText(item["name"]) ?? "");
    const index = this.#called++;
    const context = { index, answerId: this.#id, encrypted: this.#encrypted, signer: this.#signer };
    const piece = callOf(kind, item, "", context);
    this.#encrypted = null;
    const call: OpenCall = { index, id: asText(item["call_id"]), kind, argued: false };
    for (const name of names) this.#calls.set(name, call);
    return [said({ tool_calls: [{ index, ...piece }] })];
  }

  #argue(call: OpenCall | undefined, text: string): ProviderEvent[] {
    if (call === undefined || text === "") return [];
    call.argued = true;
    const { index, kind } = call;
    return [said({ tool_calls: [{ index, [kind]: kind === "custom" ? { input: text } : { arguments: text } }] })];
  }

  /** Emits what no piece of the item contained. */
  #close(names: Names, item: JsonObject): ProviderEvent[] {
    const kind = callKindOf(item);
    if (kind !== null) {
      const opened = this.#open(names, item);
      const call = this.#callAt(names);
      return call?.argued === false ? [...opened, ...this.#argue(call, callText(kind, item))] : opened;
    }
    const isBegun = names.some((name) => this.#begun.has(name)) || this.#begun.has(nowhere);
    if (item["type"] === "reasoning") return this.#endThought(item, isBegun ? [] : [names[0]]);
    if (isBegun || item["type"] !== "message") return [];
    this.#markBegun(names);
    const { content, refusal, logprobs } = saidIn(item);
    const of = (field: string, text: string) =>
      text === "" ? null : { [field]: this.#separator(field, String(names[0])) + text };
    const delta = { ...of("content", content), ...of("refusal", refusal) };
    return content === "" && refusal === "" ? [] : [said(delta, logprobs)];
  }

  /** @param at the item's place, if no piece of it has come */
  #endThought(item: JsonObject, at: readonly unknown[]): ProviderEvent[] {
    this.#encrypted = item["encrypted_content"];
    const told = at.flatMap((place) => this.#think({ output_index: place }, reasoningIn(item)));
    if (!this.#endsThoughts || this.#isRepeating) return told;
    this.#thoughtsEnded = true;
    // The next thought is one of its own, and no paragraph of this one.
    this.#parts.delete("reasoning_content");
    return [...told, thoughtEnd(item)];
  }

  #end(response: JsonObject, status: string): ProviderEvent[] {
    const usage = this.#counted(response);
    this.#isRepeating = this.#thoughtsEnded;
    if (response["error"]) return [...usage, { kind: "failure", failure: responsesFailureIn(response["error"]) }];
    const rest = asArray(response["output"]).flatMap((value, index) => {
      const item = asObject(value) ?? {};
      return this.#close(namesOf({ output_index: index, item }), item);
    });
    const finishReason = responsesFinishReason(response, status, this.#called > 0);
    if (finishReason === null) return [...usage, broken("the provider reports a failure")];
    return [...rest, ...usage, { kind: "delta", delta: {}, finishReason }, { kind: "end" }];
  }

  #counted(response: JsonObject | null): ProviderEvent[] {
    this.#id ??= response?.["id"];
    const usage = this.#usage.take(response?.["usage"]) ? this.#usage.usage() : null;
    return usage === null ? [] : [{ kind: "usage", usage }];
  }

  /** An id is more reliable than a place. */
  #callAt(names: Names): OpenCall | undefined {
    return names.map((name) => this.#calls.get(name)).findLast((call) => call !== undefined);
  }

  #markBegun(names: Names): void {
    for (const name of names) if (this.#begun.size < namesMax) this.#begun.add(name);
  }
}

type Names = readonly (string | number)[];

/** The name of an item that has none. */
const nowhere = "";

/** Some servers write another id with every piece. Their items have a place too. */
const namesMax = 1_000;
const nameCharactersMax = 512;

/** An item's names: its place in the output, its id, and that of a call. Servers may omit some, or change the id. */
function namesOf({ output_index, item_id, item }: JsonObject): Names {
  const { id, call_id } = asObject(item) ?? {};
  const names = [output_index, item_id || id, call_id].filter(isName);
  return names.length === 0 ? [nowhere] : names;
}

function isName(value: unknown): value is string | number {
  return typeof value === "number" || (typeof value === "string" && value !== "" && value.length <= nameCharactersMax);
}

function said(delta: JsonObject, logprobs: readonly unknown[] = []): ProviderEvent {
  const probabilities = logprobsOf(logprobs);
  return { kind: "delta", delta, finishReason: null, ...(probabilities && { logprobs: probabilities }) };
}
