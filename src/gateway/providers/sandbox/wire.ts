/** Writes the sandbox's answers as chat completions. */
import type { JsonObject } from "../wire/json.ts";
import type { SandboxAnswer } from "./answer.ts";

/** @param created Unix seconds */
export function wholeCompletion({ tokens, tool, finish, usage, model }: SandboxAnswer, created: number): string {
  const text = tokens.join("");
  const call = tool && { id: "call_sandbox", type: "function", function: { name: tool.name, arguments: text } };
  const message = { role: "assistant", refusal: null, ...(call ? { content: null, tool_calls: [call] } : { content: text }) };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }];
  return JSON.stringify({ id: "chatcmpl-sandbox", object: "chat.completion", created, model, choices, ...(usage && { usage }) });
}

/** The events of a stream in order, each written on request: one per token, the finish, the usage, the end. */
export function* streamedCompletion(answer: SandboxAnswer, created: number): Generator<string> {
  const { tokens, finish, usage, model } = answer;
  const head = { id: "chatcmpl-sandbox", object: "chat.completion.chunk", created, model };
  const chunk = (delta: JsonObject, reason: string | null) =>
    event({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }], usage: null });
  for (const [index, token] of tokens.entries()) yield chunk(deltaOf(answer, token, index === 0), null);
  if (tokens.length === 0) yield chunk({ role: "assistant", content: "" }, null);
  yield chunk({}, finish);
  if (usage) yield event({ ...head, choices: [], usage });
  yield "data: [DONE]\n\n";
}

function deltaOf({ tool }: SandboxAnswer, token: string, first: boolean): JsonObject {
  const role = first ? { role: "assistant" } : {};
  if (tool === null) return { ...role, content: token };
  if (!first) return { tool_calls: [{ index: 0, function: { arguments: token } }] };
  const call = { index: 0, id: "call_sandbox", type: "function", function: { name: tool.name, arguments: token } };
  return { ...role, content: null, tool_calls: [call] };
}

export function errorBody(status: number, message: string): string {
  return JSON.stringify({ error: { message, type: null, param: null, code: String(status) } });
}

function event(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
