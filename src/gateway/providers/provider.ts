/**
 * The provider interface. Chat completions is the neutral format: a wire format converts our request to its provider's, and its provider's
 * answers to ours. What a format cannot express is refused by name before credit is reserved; nothing is dropped silently. A format is made
 * of pure functions. http.ts makes the calls, transport/ has time and sockets, and api/ decides about retries and charges. Streams use
 * callbacks, since a promise for each event would cost more than the event itself.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { JsonObject } from "../../http/json.ts";
import type { longTexts, LongTexts } from "../../http/long-texts.ts";
import type { GenerationId } from "../../kernel/ids.ts";
import type { Route, ReportedUsage } from "../models/model.ts";
import type { Thought } from "../thoughts.ts";
import type { FieldPath } from "./provider-error.ts";

/** A request that passed the field checks: only known fields, without explicit nulls. */
export interface ChatBody {
  model: string;
  messages: ChatMessage[];
  /** Of an endpoint that speaks a provider's API. Only that provider's format reads it; all others convert the chat. */
  [native]?: NativeRequest;
  /** Of which the fields have placeholders. Absent: they have none. */
  [longTexts]?: LongTexts;
  [field: string]: unknown;
}

export interface ChatMessage {
  role: string;
  content?: unknown;
  [apart]?: MessageFacts;
  [field: string]: unknown;
}

/**
 * Facts of a message that chat completions have no field for. They stand under a symbol, so that no encoder, loop over fields, JSON or
 * stored prompt can give them away. A copy by `{...message}` keeps them, and one by JSON does not.
 */
export const apart: unique symbol = Symbol("facts apart");

export interface MessageFacts {
  /** The model's thoughts, in their order. Only of `assistant`. */
  thoughts?: readonly Thought[];
  /** An instruction behind the first words of the user: it stays in its place. */
  late?: true;
  /** The tool failed. Only of `tool`. */
  isError?: true;
  /**
   * Where the client wrote it: the item of its list, and for each part of `content` the block there. Absent: the same place.
   */
  source?: { item: number; parts?: readonly number[] };
}

/** The client's own request in the form of a provider's API: checked, parsed, with known fields alone. */
export const native: unique symbol = Symbol("native request");

export interface NativeRequest {
  format: "anthropic" | "openai-responses";
  body: JsonObject;
  /** The version of the API that the client has named; absent: none. */
  version?: string | undefined;
}

/** What an endpoint can show beyond the form of chat completions. */
export interface AnswerWants {
  thoughts: true;
}

export interface ProviderCall {
  generation: GenerationId;
  route: Route;
  chat: ChatBody;
  /** Sent to the provider, so that it bounds the cost. */
  maxOutputTokens: number;
  streamed: boolean;
  /** Whether this is the second attempt, which uses a new connection. Default: the first. */
  second?: boolean;
  /** Sent without the model's earlier thoughts, which the provider has refused. */
  withoutThoughts?: boolean;
  /** Absent: none of it is decoded, and thoughts travel in the ids of calls. */
  wants?: AnswerWants | undefined;
  /**
   * Called when the request was sent twice because a kept connection closed during the first send. This counts as the second
   * attempt.
   */
  onResent?: () => void;
}

/** The path, relative to the provider's base address, with the headers and body to post. */
export interface EncodedCall {
  path: string;
  headers: Record<string, string>;
  body: string;
}

export const FinishReason = Type.Union([
  Type.Literal("stop"),
  Type.Literal("length"),
  Type.Literal("tool_calls"),
  Type.Literal("content_filter"),
  Type.Literal("function_call"),
]);
export type FinishReason = Static<typeof FinishReason>;

export interface WholeAnswer {
  message: { role: "assistant"; content: string | null; refusal: string | null; [field: string]: unknown };
  finishReason: FinishReason;
  logprobs: unknown;
  /** null if the provider reported none. */
  usage: ReportedUsage | null;
  stop?: StopWord | undefined;
  /** The parts of the message in the model's order, if the call wants thoughts. Absent: reasoning, text, refusal, calls. */
  pieces?: readonly AnswerPiece[] | undefined;
}

/** The documented words of Anthropic's API for how a model stopped. */
export const stopReasons = [
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "pause_turn",
  "refusal",
  "model_context_window_exceeded",
] as const;

/** How the model stopped; absent for other words than `stopReasons`. */
export interface StopWord {
  reason: string;
  /** The stop sequence that the model wrote. */
  sequence: string | null;
}

/** The delta has the form of chat completions. */
export interface DeltaEvent {
  kind: "delta";
  delta: Record<string, unknown>;
  finishReason: FinishReason | null;
  logprobs?: unknown;
  /** Only with a finish reason. */
  stop?: StopWord | undefined;
}

/** Ends the reasoning text before it. Only in the answer of a call that wants thoughts. */
export interface ThoughtEvent {
  kind: "thought";
  /** See `Thought`. */
  seal: string;
  /** It stands alone: the provider gives no text of it. */
  redacted: boolean;
}

export type AnswerPiece = DeltaEvent | ThoughtEvent;

/** One step of a stream. */
export type ProviderEvent =
  | AnswerPiece
  /** The provider's counts so far. The last report is valid; zeros never replace a count. */
  | { kind: "usage"; usage: ReportedUsage }
  | { kind: "failure"; failure: UpstreamFailure }
  /** The provider reported the end of the answer. */
  | { kind: "end" };

export type UpstreamCode =
  "upstream_rejected" | "upstream_rate_limited" | "upstream_auth" | "upstream_error" | "upstream_timeout";

/** Causes of a refusal for which formats have their own hint. */
export type HintedCause = "too_long" | "content_policy" | "reasoning_effort";

/** A hint that means one of these causes. */
export interface CauseHint {
  hintedCause: HintedCause;
  hint: string;
}

/** Why a provider did not answer. Never carries a provider's text to a client. */
export class UpstreamFailure extends Error {
  override name = "UpstreamFailure";
  readonly code: UpstreamCode;
  /** Our hint for the client, such as that the context is too long. */
  readonly hint: string | null;
  /** The cause of a refusal that the hint means; null: none of these. */
  readonly hintedCause: HintedCause | null;
  /** The provider refused thoughts of the model that the request gives back: without them it may accept the request. */
  isOfThoughts = false;

  /** @param detail for our log: status and error type; no prompt and no text of the provider */
  constructor(code: UpstreamCode, detail: string, hint: CauseHint | string | null = null, cause?: unknown) {
    super(detail, { cause });
    this.code = code;
    const isBare = typeof hint === "string" || hint === null;
    this.hint = isBare ? hint : hint.hint;
    this.hintedCause = isBare ? null : hint.hintedCause;
  }
}

/** A decoder can throw on what no provider should send, such as arguments that are nested too deep. */
export function asUpstreamFailure(error: unknown): UpstreamFailure {
  return error instanceof UpstreamFailure
    ? error
    : new UpstreamFailure("upstream_error", "reading the answer threw", null, error);
}

/** The provider's answer is larger than the gateway takes. */
export class OversizedAnswer extends UpstreamFailure {
  constructor(detail: string) {
    super("upstream_error", detail);
  }
}

/** Whether the gateway gave up on an answer that its provider may bill all the same: it was late, or is too large. */
export function isGivenUp(failure: UpstreamFailure): boolean {
  return failure.code === "upstream_timeout" || failure instanceof OversizedAnswer;
}

/** A field that a provider's format cannot express: answered with 400 `unsupported_parameter` before credit is reserved. */
export interface UnsupportedField {
  /** The path of the field, such as `messages[0].name`. */
  param: string;
  message: string;
  /** The part of both that is the request's own text. Absent: none. */
  sent?: string;
}

export interface WireFormat {
  /**
   * Returns the first field of a request that this format cannot express, so that nothing is dropped silently. Absent if it
   * expresses all.
   */
  unsupportedField?(chat: ChatBody): UnsupportedField | null;
  /**
   * The most bytes that encoding adds to the request's own texts (`inputTokensBound`): the provider charges for them, so they are reserved.
   * Absent: none.
   */
  addedBytes?(chat: ChatBody): number;
  /** The API refuses a smaller bound on output. Absent: 1. */
  outputTokensMin?: number;
  encode(call: ProviderCall): EncodedCall;
  /**
   * Finds the field of the chat that a field of the encoded request was made from, as far as that is known: if unsure, the enclosing field
   * rather than a wrong one. A conversation is converted at most once, however many paths are asked for. Absent: the path is taken as it
   * is.
   * @returns a function that returns null for no field of the chat
   */
  clientField?(call: { chat: ChatBody; route: Route }): (path: FieldPath) => FieldPath | null;
  /** The headers with our key. Called last, so that nothing else holds the key. */
  authorization(key: string): Record<string, string>;
  /**
   * @param route the called one: its model's thoughts are kept in the ids of its calls. Absent: they are not kept
   * @param wants the call's: thoughts become pieces of the answer, and ids stay as the provider wrote them
   * @throws UpstreamFailure when a response with status 200 holds no usable answer
   */
  decodeAnswer(body: unknown, route?: Route, wants?: AnswerWants): WholeAnswer;
  /**
   * Creates a decoder for one stream: it converts the data of one server-sent event to our events. It is not called after `end`
   * or `failure`. If a body ends after a finish reason but without `[DONE]`, the decoder is given `[DONE]`, and returns what is still
   * missing, such as the arguments of a call that has none.
   */
  streamDecoder(route?: Route, wants?: AnswerWants): (data: string) => ProviderEvent[];
  /** Classifies a response whose status is not 200, by its body before its status. */
  classify(status: number, body: string): UpstreamFailure;
  /** The API's own count of a prompt, which costs nothing. Absent: it has none. */
  count?: TokenCount;
}

export interface TokenCount {
  /** @param call a request for the answer to the prompt */
  encode(call: ProviderCall): EncodedCall;
  /** @returns null: the body has no count */
  decode(body: unknown): number | null;
}

/** Receives the next events of a stream. */
export interface EventReceiver {
  /** Called once with the events that arrived together, at least one; with none if the stream has ended or was cancelled. */
  take(events: readonly ProviderEvent[]): void;
}

/**
 * An open stream, read at the reader's pace. It uses callbacks because a promise for each event would cost more than the event
 * itself.
 */
export interface ProviderEventStream extends AsyncDisposable {
  /** Requests the next events; calls back at once if they have arrived. Allows one receiver at a time. Failures are events. */
  next(receiver: EventReceiver): void;
  /** Ends the call to the provider. */
  cancel(): Promise<void>;
}

export type ProviderAnswer = { kind: "whole"; answer: WholeAnswer } | { kind: "stream"; events: ProviderEventStream };
