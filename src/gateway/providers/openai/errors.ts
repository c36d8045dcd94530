/**
 * Classifies a provider's errors. The body decides before the status: several providers answer 400 when their key or our
 * account is at fault, and 429 when waiting does not help. The text is only matched, never passed on.
 */
import { asArray, asObject, asText, parseJson, type JsonObject } from "../wire/json.ts";
import { UpstreamFailure, type UpstreamCode } from "../provider.ts";
import { contextHint, failureDetail, filterHint } from "../wire/error-hints.ts";
import { accountMessage, accountWords, contextMessage, failedModelWords, filterWords, rateWords } from "./error-words.ts";
import { codeOfStatus } from "../wire/status-code.ts";
import { withCause } from "../rejection/rejection.ts";

/** Classifies a response whose status is not 200. */
export function classifyOpenaiError(status: number, body: string): UpstreamFailure {
  const value = parseJson(body);
  // Google's compatible API wraps the object in a list.
  const outer = asObject(Array.isArray(value) ? value[0] : value);
  return withCause(judge(status, outer === null ? noError : readOuter(outer)), body, status);
}

/** Classifies an `error` in a response with status 200, whole or within a stream. */
export function failureIn(error: unknown): UpstreamFailure {
  const read = readError(error);
  const status = read.words.map(Number).find((number) => number >= 400 && number <= 599);
  const rejected = read.words.includes("invalid_request_error") ? 400 : 502;
  return withCause(judge(status ?? rejected, read), error);
}

interface ProviderError {
  /** Codes, types, states and reasons, in lower case. */
  words: string[];
  message: string;
}

const noError: ProviderError = { words: [], message: "" };

/** Cloudflare names it `errors`. Some providers omit it, or send a text in its place with the code next to it. */
function readOuter(outer: JsonObject): ProviderError {
  const error = outer["error"] ?? asArray(outer["errors"])[0];
  const text = asText(error);
  if (text !== null) return { words: wordsOf(outer), message: text };
  return readError(error ?? outer);
}

function readError(value: unknown): ProviderError {
  const error = asObject(Array.isArray(value) ? value[0] : value);
  if (error === null) return { words: [], message: asText(value) ?? "" };
  const detail = asText(error["detail"]) ?? asText(asObject(error["detail"])?.["error"]);
  return { words: wordsOf(error), message: asText(error["message"]) ?? detail ?? "" };
}

function wordsOf(error: JsonObject): string[] {
  const { code, type, status, reason, details, metadata } = error;
  const reasons = asArray(details).map((detail) => asObject(detail)?.["reason"]);
  // The moderation reasons that OpenRouter lists when it refuses a prompt with 403.
  const moderated = asArray(asObject(metadata)?.["reasons"]).length > 0 ? ["content_filter"] : [];
  return [code, type, status, reason, ...reasons, ...moderated]
    .filter((word) => typeof word === "string" || typeof word === "number")
    .map((word) => String(word).toLowerCase());
}

function judge(status: number, error: ProviderError): UpstreamFailure {
  const hasWord = (words: ReadonlySet<string>): boolean => error.words.some((word) => words.has(word));
  const failure = (code: UpstreamCode, hint: string | null = null) =>
    new UpstreamFailure(code, failureDetail(status, error.words), hint);
  if (hasWord(accountWords)) return failure("upstream_auth");
  // The request exceeds a whole minute's allowance (Groq's 413): waiting does not help.
  if (hasWord(rateWords) && status !== 413) return failure("upstream_rate_limited");
  if (accountMessage.test(error.message)) return failure("upstream_auth");
  if (status === 403 && hasWord(filterWords)) return failure("upstream_rejected", filterHint);
  const byStatus = codeOfStatus(status);
  if (byStatus === "upstream_auth" || byStatus === "upstream_rate_limited") return failure(byStatus);
  if (hasWord(failedModelWords)) return failure("upstream_error");
  if (byStatus === "upstream_rejected") return failure(byStatus, hintFor(error, hasWord(filterWords)));
  if (error.words.includes("context_length_exceeded")) return failure("upstream_rejected", contextHint);
  return failure(byStatus);
}

function hintFor(error: ProviderError, filtered: boolean): string | null {
  if (error.words.includes("context_length_exceeded") || contextMessage.test(error.message)) return contextHint;
  return filtered ? filterHint : null;
}
