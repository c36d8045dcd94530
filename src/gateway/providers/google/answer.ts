/**
 * Converts a whole answer of generateContent to our answer, and holds what the stream reads in the same way: parts, finish reasons, counts.
 * A tool call arrives whole, or its name first and its arguments in a later part without a name. Each signature goes into the id of its
 * call. An unknown reason counts as withheld: the model did not end the answer, and a client must not treat it as complete.
 */
import { modelIdCharactersMax } from "../../limits.ts";
import type { ReportedUsage } from "../../models/model.ts";
import { mintedToolCallId, signedToolCallId, signerNamed } from "../../tool-call-id.ts";
import { UpstreamFailure, type WholeAnswer, type FinishReason } from "../provider.ts";
import { joinPiece, finalReason, reportedUsage, KeptCalls } from "../wire/answers.ts";
import { toldFailure } from "../wire/errors.ts";
import { asObject, type JsonObject, asArray, asText, writtenJson, asCount } from "../wire/json.ts";
import { googleFailureIn } from "./errors.ts";

/** @throws UpstreamFailure when the body is an error despite status 200, or holds no answer */
export function decodeGoogleAnswer(body: unknown): WholeAnswer {
  const answer = asObject(Array.isArray(body) ? body[0] : body);
  if (answer === null) throw new UpstreamFailure("upstream_error", "the answer is not a JSON object");
  const told = answer["error"] || candidateOf(answer) === null ? toldFailure(answer) : null;
  if (told !== null) throw googleFailureIn(told);
  const parts = new GoogleParts();
  const { content, reasoning, toolCalls } = parts.take(answer);
  const reason = finishReasonIn(answer, parts.calledTools);
  if (reason === null && candidateOf(answer) === null)
    throw new UpstreamFailure("upstream_error", "the answer holds no candidate");
  if (reason === "failed") throw new UpstreamFailure("upstream_error", "the provider reports a failure");
  const calls: JsonObject = {};
  joinPiece(calls, { tool_calls: [...toolCalls, ...parts.end()] });
  const usage = new GoogleUsage();
  usage.take(answer["usageMetadata"]);
  return {
    message: {
      role: "assistant",
      content: content === "" && parts.calledTools ? null : content,
      refusal: null,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(parts.calledTools && calls),
    },
    finishReason: reason ?? (parts.calledTools ? "tool_calls" : "stop"),
    logprobs: null,
    usage: usage.usage(),
  };
}

// Parts

export interface Said {
  content: string;
  reasoning: string;
  /** Includes the index that a stream needs. */
  toolCalls: JsonObject[];
}

/**
 * The parts of one answer, whole or chunk by chunk. A tool call arrives whole, or its name first and its arguments in a later part, which
 * has no name.
 */
export class GoogleParts {
  #calls = 0;
  readonly #kept = new KeptCalls();
  /** The indexes of the calls whose arguments are empty so far, by the id as Google gave it; "" if it gave none. No set is empty. */
  readonly #bare = new Map<string, Set<number>>();

  get calledTools(): boolean {
    return this.#calls > 0;
  }

  /** @param answer a whole answer or a chunk. @throws UpstreamFailure for arguments that belong to no call */
  take(answer: JsonObject): Said {
    const said: Said = { content: "", reasoning: "", toolCalls: [] };
    const calls = new Map<unknown, JsonObject>();
    const content = asObject(candidateOf(answer)?.["content"]);
    for (const value of asArray(content?.["parts"])) {
      const part = asObject(value) ?? {};
      const text = asText(part["text"]) ?? "";
      if (part["functionCall"]) for (const piece of this.#callOf(part, answer)) addPiece(calls, piece);
      else if (part["thought"] === true) said.reasoning += text;
      else said.content += text;
    }
    said.toolCalls = [...calls.values()];
    return said;
  }

  /** The arguments of the calls that got none: clients cannot parse an empty text. Called at the end. */
  end(): JsonObject[] {
    const bare = [...this.#bare.values()].flatMap((indexes) => [...indexes]);
    this.#bare.clear();
    return bare.toSorted((one, other) => one - other).map((index) => arguing(index, "{}"));
  }

  #callOf(part: JsonObject, { responseId, modelVersion }: JsonObject): JsonObject[] {
    const { id, name, args, partialArgs } = asObject(part["functionCall"]) ?? {};
    const text = argumentsText(args);
    if (asArray(partialArgs).length > 0)
      throw new UpstreamFailure("upstream_error", "arguments came in a form that was not asked for");
    if (!asText(name)) return text === "" ? [] : [arguing(this.#waiting(asText(id) ?? ""), text)];
    this.#kept.begin(asText(id) ?? "", asText(name) ?? "");
    const index = this.#calls++;
    if (text === "") this.#wait(asText(id) ?? "", index);
    const given = asText(id) || mintedToolCallId(responseId, index);
    const base64 = asText(part["thoughtSignature"]);
    const model = asText(modelVersion) ?? "";
    // Each signed id has the model's name: a long one would be repeated with every call.
    const isSigned = base64 !== null && model.length <= modelIdCharactersMax;
    const signed = isSigned ? signedToolCallId(given, { signer: signerNamed(model), base64 }) : given;
    return [{ index, id: signed, type: "function", function: { name, arguments: text } }];
  }

  #wait(id: string, index: number): void {
    const same = this.#bare.get(id);
    if (same === undefined) this.#bare.set(id, new Set([index]));
    else same.add(index);
  }

  /** The index of the call that arguments without a name belong to: if several wait for arguments, only an id decides. */
  #waiting(id: string): number {
    const waiting = (id === "" ? [...this.#bare.keys()] : [id, ""]).filter((one) => this.#bare.has(one));
    const [owner = ""] = waiting;
    const [index, another] = this.#bare.get(owner) ?? [];
    if (index === undefined || another !== undefined || waiting.length > 1)
      throw new UpstreamFailure("upstream_error", "arguments came without the name of their call");
    this.#bare.delete(owner);
    return index;
  }
}

/** The first candidate: we never request more than one. */
export function candidateOf(answer: JsonObject): JsonObject | null {
  return asObject(asArray(answer["candidates"])[0]);
}

/** Clients expect one piece of a call in a chunk. */
function addPiece(pieces: Map<unknown, JsonObject>, piece: JsonObject): void {
  const named = pieces.get(piece["index"]);
  if (named === undefined) pieces.set(piece["index"], piece);
  else named["function"] = { ...asObject(named["function"]), ...asObject(piece["function"]) };
}

function arguing(index: number, text: string): JsonObject {
  return { index, function: { arguments: text } };
}

/** "" for no arguments. Some compatible servers write the object as text. */
function argumentsText(args: unknown): string {
  const text = typeof args === "string" ? args.trim() : writtenJson(args ?? {});
  return text === "{}" ? "" : text;
}

// Finish reasons

/**
 * SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII and similar reasons mean that the provider withheld the rest. So do
 * LANGUAGE, OTHER and unknown reasons: the model did not end the answer, and a client must not treat it as complete.
 */
const withheld: FinishReason = "content_filter";

const reasons = new Map<string, FinishReason | "failed">([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["MALFORMED_FUNCTION_CALL", "failed"],
  ["MALFORMED_RESPONSE", "failed"],
  ["UNEXPECTED_TOOL_CALL", "failed"],
  ["TOO_MANY_TOOL_CALLS", "failed"],
  ["MISSING_THOUGHT_SIGNATURE", "failed"],
]);

/**
 * @param answer a whole answer or a chunk
 * @param calledTools whether the answer calls tools: Google then also says STOP, and SDKs would run none of them
 * @returns null if there is no finish reason
 */
export function finishReasonIn(answer: JsonObject, calledTools: boolean): FinishReason | "failed" | null {
  const candidate = candidateOf(answer);
  // The answer to a refused prompt has no candidate, and no other sign of the refusal.
  if (candidate === null) return asText(asObject(answer["promptFeedback"])?.["blockReason"]) ? withheld : null;
  const reported = asText(candidate["finishReason"]);
  if (!reported || reported === "FINISH_REASON_UNSPECIFIED") return null;
  const reason = reasons.get(reported) ?? withheld;
  return reason === "failed" ? reason : finalReason(reason, calledTools);
}

// Counts

const counts = [
  "promptTokenCount",
  "cachedContentTokenCount",
  "toolUsePromptTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "totalTokenCount",
] as const;

/** Every chunk repeats all counts so far. The last count is valid; a missing or zero count does not reset it. */
export class GoogleUsage {
  readonly #counts: Partial<Record<(typeof counts)[number], number>> = {};

  /**
   * Reads `usageMetadata`, or whatever value is in its place.
   * @returns whether it contained a new count
   */
  take(value: unknown): boolean {
    const reported = asObject(value) ?? {};
    let news = false;
    for (const name of counts) {
      const count = asCount(reported[name]);
      if (!count || count === this.#counts[name]) continue;
      this.#counts[name] = count;
      news = true;
    }
    return news;
  }

  /** Cached tokens are part of the prompt; thoughts are not part of the candidates. null if nothing was counted so far. */
  usage(): ReportedUsage | null {
    const { promptTokenCount = 0, toolUsePromptTokenCount: toolUse = 0, totalTokenCount: total = 0 } = this.#counts;
    const { candidatesTokenCount = 0, thoughtsTokenCount: reasoning = 0, cachedContentTokenCount: cached = 0 } = this.#counts;
    // Zeros were ignored, so a sum of zero means that nothing was reported.
    const prompt = promptTokenCount + toolUse || null;
    const completion = candidatesTokenCount + reasoning || null;
    if (prompt === null && completion === null && total === 0) return null;
    return reportedUsage({ prompt, completion, total, cached, cacheWrite: 0, reasoning });
  }
}
