/** Finds the error in a document with status 200, in any of the shapes that servers use. */
import { asArray, asObject, asText, type JsonObject } from "./json.ts";

/**
 * Call it only for a document with the field `error`, or without any part of an answer.
 * @param value a body or the data of an event; a list stands for its first item
 * @param options.begun a stream has brought content: then a message is an error only if a status or a word next to it says so
 * @returns the error, with its text in `message` and its code in `code` if it has them; null: there is none
 */
export function toldFailure(value: unknown, { begun = false }: { begun?: boolean } = {}): JsonObject | null {
  const outer = firstObject(value);
  if (outer === null) return null;
  // Cloudflare names it `errors`, FastAPI `detail`. Each may be an object, a list of objects, or a text.
  const inner = outer["error"] || asArray(outer["errors"])[0] || outer["detail"];
  if (inner)
    return firstObject(inner) === null
      ? named({ ...outer, message: asText(inner) ?? outer["message"] })
      : named(firstObject(inner) ?? {});
  if (outer["object"] === "error" || outer["type"] === "error") return named(outer);
  return apart(named(outer), begun) ?? minimaxFailure(outer["base_resp"]);
}

function firstObject(value: unknown): JsonObject | null {
  return asObject(Array.isArray(value) ? value[0] : value);
}

/** With the names of chat completions in place of those of other servers. */
function named(error: JsonObject): JsonObject {
  const message = asText(error["message"]) ?? asText(error["msg"]) ?? asText(error["error_msg"]);
  const code = error["code"] ?? error["error_code"] ?? error["status_code"];
  return { ...error, ...(message !== null && { message }), ...(code !== undefined && { code }) };
}

/** Codes that accompany the message of a success. */
const successes: ReadonlySet<unknown> = new Set([0, 200, "0", "200", "ok", "success"]);

/** States that accompany the message of work that goes on. */
const progress = /^(accepted|in[_ ]?progress|loading|pending|processing|queued|running|started|starting|waiting)$/i;

const errorWord =
  /error|exception|fail|invalid|denied|exceed|exhaust|limit|overload|unavailable|time_?d?_?out|unauthori|forbidden|not_?found/i;

/** A message with a code or the type of an error is an error without a wrapper; null if it is something else, such as a notice. */
function apart(error: JsonObject, begun: boolean): JsonObject | null {
  const { message, code, status, type } = error;
  const errorType = /error|exception/i.test(asText(type) ?? "") ? type : null;
  if (!asText(message) || successes.has(code ?? status ?? errorType)) return null;
  const words = [code, status, errorType].filter((word) => typeof word === "number" || (typeof word === "string" && word !== ""));
  if (words.some((word) => Number(word) >= 400 || errorWord.test(String(word)))) return error;
  return words.length === 0 || begun || words.some(tellsProgress) ? null : error;
}

function tellsProgress(word: unknown): boolean {
  const status = Number(word);
  return (status >= 100 && status < 400) || progress.test(String(word));
}

/** MiniMax reports failures next to the fields of an answer, which are then null; 0 means none. */
function minimaxFailure(value: unknown): JsonObject | null {
  const { status_code: code, status_msg: message } = asObject(value) ?? {};
  return typeof code === "number" && code !== 0 ? { code, message } : null;
}
