/** Runs the check of a chat completion on a valid request with a test's fields. */
import { expect } from "bun:test";
import { GatewayError } from "../../../src/kernel/errors.ts";
import { checkChat, type CheckedChat } from "../../../src/gateway/api/request/chat-request.ts";
import { supportWords } from "../../../src/gateway/api/request/requested-model.ts";
import { chatModel } from "../providers/model.ts";

export const everything = chatModel(Object.keys(supportWords), { reasons: true });
export const nothing = chatModel();
export const hello = [{ role: "user", content: "Hello" }];
export const tool = { type: "function", function: { name: "look_up", description: "Looks up", parameters: { type: "object" } } };

export type Body = Record<string, unknown>;

export function check(fields: Body, model: typeof everything | null = everything): CheckedChat {
  const bytes = new TextEncoder().encode(JSON.stringify({ model: "acme/one", messages: hello, ...fields }));
  return checkChat(bytes, { find: () => model });
}

/** Code and param of the refusal; null: it passes. */
export function refusal(fields: Body, model: typeof everything | null = everything): string | null {
  try {
    check(fields, model);
    return null;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.status).toBe(400);
    return `${error.code} ${error.param}`;
  }
}

export function messageOf(fields: Body, model: typeof everything | null = everything): string {
  try {
    check(fields, model);
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
  }
  return "";
}
