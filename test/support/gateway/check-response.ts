/** Runs the check of a request for a response on a valid request with a test's fields. */
import type { AnswerFormat } from "../../../src/gateway/api/answer/answer-format.ts";
import { checkRequest, type CheckedChat } from "../../../src/gateway/api/request/chat-request.ts";
import { responsesFormat } from "../../../src/gateway/api/responses/request.ts";
import { GatewayError } from "../../../src/kernel/errors.ts";
import type { Model } from "../../../src/gateway/models/model.ts";
import { ManualClock } from "../clock.ts";
import { chatModel } from "../providers/model.ts";
import { everything, type Body } from "./check-chat.ts";

export const plain = chatModel(["tools", "json_schema"]);

/** The chat that a request becomes, and how its answer is written. */
export function checkResponse(fields: Body, model: Model | null = everything): { chat: CheckedChat; format: AnswerFormat } {
  const bytes = new TextEncoder().encode(JSON.stringify({ model: "acme/one", input: "Hello", ...fields }));
  return checkRequest(bytes, responsesFormat(new ManualClock(1_700_000_000_000)), {
    find: (id) => (id === "acme/one" ? model : null),
  });
}

/** The fields that were left out. */
export function ignoredOf(fields: Body, model: Model | null = everything): string[] {
  const { headers } = checkResponse(fields, model).format;
  const listed = headers?.({ generation: "", request: "" } as never)["x-ignored-fields"];
  return listed === undefined ? [] : listed.split(", ");
}

/** Code and param of the refusal; null: it passes. */
export function refusalOf(fields: Body, model: Model | null = everything): string | null {
  return refused(fields, model)?.split(": ")[0] ?? null;
}

/** Code, param and message of the refusal. */
export function refused(fields: Body, model: Model | null = everything): string | null {
  try {
    checkResponse(fields, model);
    return null;
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status !== 400) throw error;
    return `${error.code} ${error.param}: ${error.message}`;
  }
}
