/**
 * What the formats share in reading an answer: the one finish reason of a provider that sends several or goes on after one; counts, in
 * total and in parts, as one usage; the pieces of a message joined; with `parallel_tool_calls: false`, one call only; and the bound of what
 * a decoder keeps of an answer's calls. Where sources disagree, the reading that does not mislead a client or charge it twice wins: a cut
 * answer is never called complete, and a total that contradicts its parts is reported apart from them.
 */
import { bodyBytesMax, messagesMax } from "../../limits.ts";
import type { ReportedUsage, Route } from "../../models/model.ts";
import { signerNamed } from "../../tool-call-id.ts";
import {
  type AnswerPiece,
  type ChatBody,
  type DeltaEvent,
  type FinishReason,
  type ProviderEvent,
  type StopWord,
  type WholeAnswer,
  type WireFormat,
  UpstreamFailure,
} from "../provider.ts";
import { asCount, asObject, asText, type JsonObject, asArray, isEmpty } from "./json.ts";

/** A reason that cut the answer short outranks one that ended it: a client must not take a cut answer for complete. */
const ascending: readonly FinishReason[] = ["stop", "function_call", "tool_calls", "length", "content_filter"];

/** @param before null: there was none so far */
export function strongerReason(before: FinishReason | null, next: FinishReason): FinishReason {
  return before !== null && ascending.indexOf(before) >= ascending.indexOf(next) ? before : next;
}

/**
 * @param reason null: the provider sent none
 * @param calledTools whether the answer calls tools, which SDKs run only with `tool_calls`
 */
export function finalReason(reason: FinishReason | null, calledTools: boolean): FinishReason {
  return calledTools && (reason ?? "stop") === "stop" ? "tool_calls" : (reason ?? "stop");
}

/** How an answer ended. */
export interface Ending {
  reason: FinishReason;
  /** The word of the provider's API for it; null: none that is known. */
  stop: StopWord | null;
}

/** The ending with the stronger reason. @param before null: there was none so far */
export function strongerEnding(before: Ending | null, event: DeltaEvent): Ending | null {
  const { finishReason, stop: word } = event;
  if (finishReason === null) return before;
  const stop = word ?? null;
  const reason = strongerReason(before?.reason ?? null, finishReason);
  if (before === null || reason !== before.reason) return { reason, stop };
  return finishReason === reason && before.stop === null ? { reason, stop } : before;
}

/** The ending that the client gets, without the provider's own word if the reason was corrected. @param calledTools as for `finalReason` */
export function finalEnding(ending: Ending | null, calledTools: boolean): Ending {
  const reason = finalReason(ending?.reason ?? null, calledTools);
  return { reason, stop: reason === ending?.reason ? ending.stop : null };
}

// Thoughts

/**
 * Who gets a thought back: the model at its provider, and no other. The Responses API encrypts reasoning for one account, so there it is
 * also the own key.
 */
export function signerOf({ provider, upstreamModel, format, ownKey }: Route): string {
  const account = format === "openai-responses" && ownKey !== undefined ? [ownKey.id] : [];
  return signerNamed([provider.id, upstreamModel, ...account].join("."));
}

// Counts

interface ReportedCounts {
  /** null if not reported. */
  prompt: number | null;
  /** null if not reported. */
  completion: number | null;
  /** 0 if not reported. */
  total: number;
  cached: number;
  cacheWrite: number;
  reasoning: number;
}

/**
 * A side that was not reported, or reported as zero, is the rest of the total. Reasoning that the provider counted outside of
 * its completion is added to it. Any further rest of the total is returned separately, because the parts do not explain it.
 */
export function reportedUsage({ prompt, completion, total, cached, cacheWrite, reasoning }: ReportedCounts): ReportedUsage {
  // If neither side is counted, the total cannot be divided between them.
  const divisible = prompt === 0 && completion === 0 ? 0 : total;
  const promptTokens = prompt || (remainder(divisible, completion) ?? prompt);
  const counted = completion || (remainder(divisible, prompt) ?? completion);
  const rest = promptTokens === null || counted === null ? 0 : Math.max(0, total - promptTokens - counted);
  const outside = rest === reasoning ? rest : 0;
  const completionTokens = counted === null ? null : counted + outside;
  const cachedTokens = Math.min(cached, promptTokens ?? 0);
  return {
    promptTokens,
    cachedTokens,
    cacheWriteTokens: Math.min(cacheWrite, (promptTokens ?? 0) - cachedTokens),
    completionTokens,
    reasoningTokens: Math.min(reasoning, completionTokens ?? 0),
    ...(rest > outside && { unexplainedTokens: rest }),
  };
}

/** null if the total says nothing about this side. */
function remainder(total: number, other: number | null): number | null {
  return other === null || total <= other ? null : total - other;
}

// Pieces

/** A message without pieces. It has no prototype, so that a provider's field named `__proto__` is an ordinary field. */
export function blank(): JsonObject {
  return Object.create(null);
}

/** Adds a delta, as the formats' decoders make it, to the message so far. */
export function joinPiece(message: JsonObject, delta: JsonObject): void {
  for (const [name, more] of Object.entries(delta)) message[name] = joined(message[name], more);
}

function joined(value: unknown, more: unknown): unknown {
  if (typeof more === "string") return (asText(value) ?? "") + more;
  if (Array.isArray(more)) return joinedList(Array.isArray(value) ? value : [], more);
  const fields = asObject(more);
  if (fields === null) return more ?? value;
  const whole = asObject(value) ?? blank();
  joinPiece(whole, fields);
  return whole;
}

function joinedList(list: unknown[], pieces: readonly unknown[]): unknown[] {
  for (const piece of pieces) {
    const { index, ...rest } = asObject(piece) ?? {};
    const place = asCount(index);
    if (place === null) list.push(piece);
    else if (place < list.length) list[place] = joined(list[place], rest);
    // A provider's large index must not make a long list.
    else list.push(joined(undefined, rest));
  }
  return list;
}

// One call only

/**
 * `parallel_tool_calls: false`: an answer calls at most one tool. Google has no field for it, and others ignore theirs, so the gateway
 * enforces it: a client receives only the first call. After its result the model can make the next one.
 * @returns the format unchanged if the client accepts several calls at once, which is the default
 */
export function withParallelToolCallsOff(format: WireFormat, chat: ChatBody): WireFormat {
  if (chat["parallel_tool_calls"] !== false) return format;
  return {
    ...format,
    decodeAnswer: (body, route, wants) => onlyFirstCall(format.decodeAnswer(body, route, wants)),
    streamDecoder(route, wants) {
      const decode = format.streamDecoder(route, wants);
      return (data) => decode(data).flatMap(onlyFirstCallEvent);
    },
  };
}

function onlyFirstCall(answer: WholeAnswer): WholeAnswer {
  const calls = asArray(answer.message["tool_calls"]);
  if (calls.length <= 1) return answer;
  const pieces = answer.pieces && { pieces: answer.pieces.flatMap(onlyFirstCallPiece) };
  return { ...answer, message: { ...answer.message, tool_calls: calls.slice(0, 1) }, ...pieces };
}

function onlyFirstCallEvent(event: ProviderEvent): ProviderEvent[] {
  return event.kind === "delta" ? onlyFirstCallPiece(event) : [event];
}

/** Returns none if the piece only contains another call. */
function onlyFirstCallPiece(piece: AnswerPiece): AnswerPiece[] {
  if (piece.kind === "thought" || !("tool_calls" in piece.delta)) return [piece];
  const { tool_calls: toolCalls, ...rest } = piece.delta;
  const calls = asArray(toolCalls).filter((call) => asObject(call)?.["index"] === 0);
  const delta = calls.length === 0 ? rest : { ...rest, tool_calls: calls };
  return isEmpty(delta) && piece.finishReason === null && piece.logprobs === undefined ? [] : [{ ...piece, delta }];
}

// The data of an answer's calls that is kept to the end of its stream. Each call needs its result in a message of the next request, and its
// id and name come back in that request's body: an answer beyond the bounds of a request can never be answered, so it fails at once.

export class KeptCalls {
  #calls = 0;
  #characters = 0;

  /**
   * Counts a call. @param texts its id and its name, or what of them is known so far
   * @throws UpstreamFailure when there are too many calls, or their texts are too long
   */
  begin(...texts: readonly string[]): void {
    this.#calls++;
    for (const text of texts) this.keep(text);
    if (this.#calls > messagesMax)
      throw new UpstreamFailure("upstream_error", `the answer has more than ${messagesMax} calls of tools`);
  }

  /** Counts an id that came later. @throws UpstreamFailure as above */
  keep(text: string): void {
    this.#characters += text.length;
    if (this.#characters > bodyBytesMax)
      throw new UpstreamFailure("upstream_error", "the ids and names of the answer's calls are too long");
  }
}
