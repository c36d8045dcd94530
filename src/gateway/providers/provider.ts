/**
 * The provider seam. The neutral language is the chat-completions wire format itself: a format turns our request into
 * its provider's and its provider's answers into these words. http.ts does the calling for all of them.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { GenerationId } from "../../kernel/ids.ts";
import type { Route, ReportedUsage } from "../models/model.ts";

/** A request that passed the field checks: known fields only, explicit nulls removed. */
export interface ChatBody {
  model: string;
  messages: ChatMessage[];
  [field: string]: unknown;
}

export interface ChatMessage {
  role: string;
  content?: unknown;
  [field: string]: unknown;
}

export interface ProviderCall {
  generation: GenerationId;
  route: Route;
  chat: ChatBody;
  /** Sent to the provider, so that it truly bounds the cost. */
  maxOutputTokens: number;
  streamed: boolean;
  /** The second try: it goes out over a connection that has carried nothing yet. Absent: it is the first. */
  second?: boolean;
  /** Told where the request went out twice, for a kept connection was closed as it was sent: that was the second try. */
  onResent?: () => void;
}

/** Where and what to post: relative to the provider's base address. */
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
  /** null: the provider told none. */
  usage: ReportedUsage | null;
}

/** One step of a stream. A choice's delta is in the chat-completions form. */
export type ProviderEvent =
  | { kind: "delta"; delta: Record<string, unknown>; finishReason: FinishReason | null; logprobs?: unknown }
  /** What the provider counted so far; the last one told stands, zeros never replace a count. */
  | { kind: "usage"; usage: ReportedUsage }
  | { kind: "failure"; failure: UpstreamFailure }
  /** The provider said that it is done. */
  | { kind: "end" };

export type UpstreamCode =
  "upstream_rejected" | "upstream_rate_limited" | "upstream_auth" | "upstream_error" | "upstream_timeout";

/** Why a provider did not answer. Never carries a provider's text to a client. */
export class UpstreamFailure extends Error {
  override name = "UpstreamFailure";
  readonly code: UpstreamCode;
  /** Our own hint for the client, such as that the context is too long. */
  readonly hint: string | null;

  /** @param detail for our log: status, error type; no prompt, no provider's free text */
  constructor(code: UpstreamCode, detail: string, hint: string | null = null, cause?: unknown) {
    super(detail, { cause });
    this.code = code;
    this.hint = hint;
  }
}

/** What a provider's format has no place for: answered 400 `unsupported_parameter` before anything is set aside or sent. */
export interface UnsupportedField {
  /** Path of the field, such as `messages[0].name`. */
  param: string;
  message: string;
}

export interface WireFormat {
  /** The first thing in a request that this format cannot carry, so that nothing is dropped in silence. Absent: it carries all. */
  unsupportedField?(chat: ChatBody): UnsupportedField | null;
  encode(call: ProviderCall): EncodedCall;
  /** The headers that carry our key. Called last of all, so that nothing else holds it. */
  authorization(key: string): Record<string, string>;
  /** @throws UpstreamFailure when the 200 holds no usable answer */
  decodeAnswer(body: unknown): WholeAnswer;
  /** A decoder for one stream: the data of one server-sent event to our events. Nothing is asked of it after `end` or `failure`. */
  streamDecoder(): (data: string) => ProviderEvent[];
  /** An answer other than 200, judged by its body before its status (research table: upstream → ours). */
  classify(status: number, body: string): UpstreamFailure;
}

/** Who waits for the next events of a stream. */
export interface EventReceiver {
  /** Told once: those that came together, at least one; none where the stream has told its end before, or was cancelled. */
  take(events: readonly ProviderEvent[]): void;
}

/** An open stream, read at the reader's pace. Its taker is called back, for a promise an event would cost more than its way through here. */
export interface ProviderEventStream extends AsyncDisposable {
  /** Asks for what comes next, which is told at once where it is here. One taker at a time. Failures are events. */
  next(taker: EventReceiver): void;
  /** Ends the call towards the provider. */
  cancel(): Promise<void>;
}

export type ProviderAnswer = { kind: "whole"; answer: WholeAnswer } | { kind: "stream"; events: ProviderEventStream };
