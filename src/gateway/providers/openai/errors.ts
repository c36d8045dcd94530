/**
 * What an error of a provider means for us. The body is judged before the status: several providers answer 400 where their
 * key or our account is at fault, and 429 where no waiting helps. Their text decides; it is never passed on.
 */
import { asArray, asObject, asText, parseJson, type JsonObject } from "../wire/json.ts";
import { UpstreamFailure, type UpstreamCode } from "../provider.ts";
import { contextHint, failureDetail, filterHint } from "../wire/error-hints.ts";
import { accountMessage, accountWords, contextMessage, failedModelWords, filterWords, rateWords } from "./error-words.ts";
import { codeOfStatus } from "../wire/status-code.ts";

/** An answer other than 200. */
export function classifyOpenaiError(status: number, body: string): UpstreamFailure {
  const value = parseJson(body);
  // Google's twin of this API wraps the object into a list.
  const outer = asObject(Array.isArray(value) ? value[0] : value);
  return judge(status, outer === null ? nothingTold : readOuter(outer));
}

/** An `error` within an answer whose status was 200, whole or in the middle of a stream. */
export function failureIn(error: unknown): UpstreamFailure {
  const told = readError(error);
  const status = told.words.map(Number).find((number) => number >= 400 && number <= 599);
  const rejected = told.words.includes("invalid_request_error") ? 400 : 502;
  return judge(status ?? rejected, told);
}

interface ToldError {
  /** Codes, types, states and reasons, in lower case. */
  words: string[];
  message: string;
}

const nothingTold: ToldError = { words: [], message: "" };

/** Cloudflare calls it `errors`; some leave it out, or have a text in its place and the code beside it. */
function readOuter(outer: JsonObject): ToldError {
  const error = outer["error"] ?? asArray(outer["errors"])[0];
  const text = asText(error);
  if (text !== null) return { words: wordsOf(outer), message: text };
  return readError(error ?? outer);
}

function readError(value: unknown): ToldError {
  const error = asObject(Array.isArray(value) ? value[0] : value);
  if (error === null) return { words: [], message: asText(value) ?? "" };
  const detail = asText(error["detail"]) ?? asText(asObject(error["detail"])?.["error"]);
  return { words: wordsOf(error), message: asText(error["message"]) ?? detail ?? "" };
}

function wordsOf(error: JsonObject): string[] {
  const { code, type, status, reason, details, metadata } = error;
  const reasons = asArray(details).map((detail) => asObject(detail)?.["reason"]);
  // Reasons of a moderation, which OpenRouter lists where it refuses a prompt with 403.
  const moderated = asArray(asObject(metadata)?.["reasons"]).length > 0 ? ["content_filter"] : [];
  return [code, type, status, reason, ...reasons, ...moderated]
    .filter((word) => typeof word === "string" || typeof word === "number")
    .map((word) => String(word).toLowerCase());
}

function judge(status: number, told: ToldError): UpstreamFailure {
  const says = (words: ReadonlySet<string>): boolean => told.words.some((word) => words.has(word));
  const failure = (code: UpstreamCode, hint: string | null = null) =>
    new UpstreamFailure(code, failureDetail(status, told.words), hint);
  if (says(accountWords)) return failure("upstream_auth");
  // Larger than a whole minute's allowance (413 of Groq): waiting does not help.
  if (says(rateWords) && status !== 413) return failure("upstream_rate_limited");
  if (accountMessage.test(told.message)) return failure("upstream_auth");
  if (status === 403 && says(filterWords)) return failure("upstream_rejected", filterHint);
  const byStatus = codeOfStatus(status);
  if (byStatus === "upstream_auth" || byStatus === "upstream_rate_limited") return failure(byStatus);
  if (says(failedModelWords)) return failure("upstream_error");
  if (byStatus === "upstream_rejected") return failure(byStatus, hintFor(told, says(filterWords)));
  if (told.words.includes("context_length_exceeded")) return failure("upstream_rejected", contextHint);
  return failure(byStatus);
}

function hintFor(told: ToldError, filtered: boolean): string | null {
  if (told.words.includes("context_length_exceeded") || contextMessage.test(told.message)) return contextHint;
  return filtered ? filterHint : null;
}
