/** Reads a request to Messages with a test's fields. */
import { GatewayError } from "../../../../src/kernel/errors.ts";
import { messagesFormat } from "../../../../src/gateway/api/messages/request.ts";
import { checkRequest, type CheckedPrompt } from "../../../../src/gateway/api/request/chat-request.ts";
import type { Model } from "../../../../src/gateway/models/model.ts";
import { everything } from "../../../support/gateway/check-chat.ts";

export type Fields = Record<string, unknown>;

export interface Asked {
  model?: Model | null;
  version?: string | null;
}

export const user = (content: unknown): Fields => ({ role: "user", content });
export const assistant = (content: unknown): Fields => ({ role: "assistant", content });
export const system = (content: unknown): Fields => ({ role: "system", content });
export const said = (text: string, more: Fields = {}): Fields => ({ type: "text", text, ...more });
export const called = (id: string, name = "look_up", input: Fields = {}): Fields => ({ type: "tool_use", id, name, input });
export const result = (id: string, content: unknown, more: Fields = {}): Fields => ({
  type: "tool_result",
  tool_use_id: id,
  content,
  ...more,
});
export const tool = (name = "look_up", more: Fields = {}): Fields => ({ name, input_schema: { type: "object" }, ...more });
export const ephemeral = { type: "ephemeral" };

export function checked(fields: Fields, { model = everything, version = "2023-06-01" }: Asked = {}): CheckedPrompt {
  const body = { model: "acme/one", max_tokens: 100, messages: [user("Hello")], ...fields };
  return checkRequest(new TextEncoder().encode(JSON.stringify(body)), messagesFormat({ version }), { find: () => model });
}

/** The chat without what stands apart. */
export function bodyOf(fields: Fields, asked?: Asked): Fields {
  const { model: _, ...body } = JSON.parse(JSON.stringify(checked(fields, asked).chat.body)) as Fields;
  return body;
}

export function messagesOf(...messages: Fields[]): unknown {
  return bodyOf({ messages })["messages"];
}

/** The names in `x-ignored-fields`. */
export function ignoredBy(fields: Fields, asked?: Asked): string | undefined {
  const { format } = checked(fields, asked);
  return format.headers?.({ generation: "gen-a", request: "req-1" } as never)["x-ignored-fields"];
}

export function problemOf(fields: Fields, asked?: Asked): GatewayError {
  try {
    checked(fields, asked);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("The request was accepted");
}

/** Code and param of the refusal. */
export function refusal(fields: Fields, asked?: Asked): string {
  const { code, param } = problemOf(fields, asked);
  return `${code} ${param}`;
}
