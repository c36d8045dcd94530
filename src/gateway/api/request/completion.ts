/** Check 2 of a completion: its prompt becomes the one message of a chat. */
import { Type } from "@sinclair/typebox";
import { completionTokensDefault } from "../../limits.ts";
import type { ChatMessage } from "../../providers/provider.ts";
import { invalidRequest, unsupportedParameter } from "../../../http/bad-request.ts";
import { checkRequest, knownFields, type CheckChatOptions, type CheckedChat, type RequestFormat } from "./chat.ts";
import { completionFields } from "./completion-fields.ts";

const text = Type.String({ minLength: 1 });

export const promptSchema = Type.Union([text, Type.Array(text, { minItems: 1, maxItems: 1 })], {
  description: "One prompt, which the model gets as the message of a user",
});

export const completionRequestFormat: RequestFormat = {
  fields: completionFields,
  known: knownFields("prompt", completionFields),
  prompt: "prompt",
  maxTokensDefault: completionTokensDefault,
  messages: ({ request }) => [{ role: "user", content: readPrompt(request["prompt"]) }] satisfies ChatMessage[],
};

/** @throws GatewayError as `checkChat` */
export function checkCompletion(bytes: Uint8Array, options: CheckChatOptions): CheckedChat {
  return checkRequest(bytes, completionRequestFormat, options);
}

function readPrompt(prompt: unknown): string {
  if (prompt === undefined) throw invalidRequest("prompt", "prompt is required");
  if (prompt === null) throw unsupportedParameter("prompt", "prompt: only a text is supported");
  if (!Array.isArray(prompt)) return readText(prompt, "prompt");
  const [first]: unknown[] = prompt;
  if (first === undefined) throw invalidRequest("prompt", "prompt must not be empty");
  if (typeof first === "number" || Array.isArray(first)) {
    throw unsupportedParameter("prompt", "prompt: only a text is supported, and no token ids");
  }
  if (prompt.length > 1) throw unsupportedParameter("prompt", "prompt: only one prompt is supported");
  return readText(first, "prompt[0]");
}

function readText(value: unknown, at: string): string {
  if (typeof value !== "string") throw invalidRequest(at, `${at} must be a string`);
  if (value === "") throw invalidRequest(at, `${at} must not be empty`);
  return value;
}
