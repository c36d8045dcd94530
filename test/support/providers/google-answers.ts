/** Answers of a provider stub for generateContent: whole or streamed as its path requests, ending with the body. */
import { json, stream, type StreamOptions, type StubAnswer } from "./stub-answers.ts";

export interface GoogleChatOptions {
  /** The usage on every chunk; null: none. Default: 10 prompt tokens, and a token for each piece. */
  usage?: Record<string, unknown> | null;
  finish?: string;
  responseId?: string;
  end?: StreamOptions["end"];
}

/** The model name in the answer. */
export const googleModel = "gemini-3.5-flash";

/** An answer of these parts, or of the words of a text. A stream has each in its own chunk. */
export function googleChat(said: string | Record<string, unknown>[], options: GoogleChatOptions = {}): StubAnswer {
  const parts = typeof said === "string" ? (said.match(/\S+\s*/g) ?? []).map((text) => ({ text })) : said;
  const usage = options.usage === undefined ? googleUsage(10, parts.length) : options.usage;
  const finish = options.finish ?? "STOP";
  const answerOf = (some: Record<string, unknown>[], reason: string | null) => ({
    ...answer(some, reason, usage),
    ...(options.responseId !== undefined && { responseId: options.responseId }),
  });
  const whole = json(answerOf(parts, finish));
  const chunks = parts.map((part, index) => answerOf([part], index === parts.length - 1 ? finish : null));
  const streamed = stream(chunks, { end: options.end ?? "no done" });
  return (response, call) => (call.path.includes(":streamGenerateContent") ? streamed : whole)(response, call);
}

/** An error in the form of Google's APIs, in a list for a stream call. */
export function googleError(code: number, status: string, message = "The stub fails as configured"): StubAnswer {
  const body = { error: { code, message, status } };
  return (response, call) => json(call.path.includes(":stream") ? [body] : body, code)(response, call);
}

export function googleUsage(prompt: number, candidates: number): Record<string, unknown> {
  return { promptTokenCount: prompt, candidatesTokenCount: candidates, totalTokenCount: prompt + candidates };
}

function answer(parts: Record<string, unknown>[], finish: string | null, usage: Record<string, unknown> | null): object {
  const candidate = { content: { parts, role: "model" }, ...(finish !== null && { finishReason: finish }), index: 0 };
  return { candidates: [candidate], ...(usage && { usageMetadata: usage }), modelVersion: googleModel, responseId: "R3sp0nse" };
}
