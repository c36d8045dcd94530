/**
 * The fields of a completion, and its check 2: its prompt becomes the one message of a chat, and from there on it is a chat completion. The
 * table has every field of the official schema except `model` and `prompt`, in the schema's order
 * (https://github.com/openai/openai-openapi, CreateCompletionRequest), and additions after them. A field that chat completions have too is
 * the same row. Several prompts in one request are refused, and so is anything but the defaults of `echo`, `suffix` and `best_of`: a chat
 * has no place for them.
 */
import { Type } from "@sinclair/typebox";
import { invalidRequest, unsupportedParameter } from "../../../kernel/errors.ts";
import { completionTokensDefault } from "../../limits.ts";
import type { ChatMessage } from "../../providers/provider.ts";
import { completionFormat } from "../answer/answer-format.ts";
import { chatFields, type ChatField, acceptOnly, maxTokens, notSupported } from "./chat-fields.ts";
import { checkRequest, tableFormat, type CheckChatOptions, type CheckedChat, type RequestFormat } from "./chat-request.ts";
import { nullable } from "./read-value.ts";

const ofChat = new Map(chatFields.map((field) => [field.name, field]));
const theDefault = "none: the default";

export const completionFields: readonly ChatField[] = [
  {
    name: "best_of",
    ...nullable(acceptOnly([1], "best_of=1"), "From how many answers to choose: only best_of=1 is supported"),
    accepts: "1",
    effect: theDefault,
  },
  {
    name: "echo",
    ...nullable(acceptOnly([false], "echo=false"), "Whether the answer begins with the prompt: only false is supported"),
    accepts: "`false`",
    effect: theDefault,
  },
  asInChat("frequency_penalty"),
  asInChat("logit_bias"),
  {
    name: "logprobs",
    ...nullable(notSupported, "Not supported: only null"),
    accepts: "nothing",
    effect: "refused: chat completions have another form",
  },
  {
    name: "max_tokens",
    ...nullable(maxTokens, "The most tokens of the answer, its reasoning included. Limits the cost that is reserved"),
    accepts: `1 to the model's \`max_output_tokens\`; absent: ${completionTokensDefault}`,
    effect: "limits answer, reasoning and reservation",
  },
  asInChat("n"),
  asInChat("presence_penalty"),
  asInChat("seed"),
  asInChat("stop"),
  asInChat("stream"),
  asInChat("stream_options"),
  {
    name: "suffix",
    ...nullable(notSupported, "Not supported: only null"),
    accepts: "nothing",
    effect: "refused: no model writes text before another",
  },
  asInChat("temperature"),
  asInChat("top_p"),
  asInChat("user"),
  asInChat("usage"),
];

const text = Type.String({ minLength: 1 });

export const promptSchema = Type.Union([text, Type.Array(text, { minItems: 1, maxItems: 1 })], {
  description: "One prompt, which the model gets as the message of a user",
});

export const completionRequestFormat: RequestFormat = tableFormat({
  fields: completionFields,
  prompt: "prompt",
  maxTokensDefault: completionTokensDefault,
  messages: ({ request }) => [{ role: "user", content: readPrompt(request["prompt"]) }] satisfies ChatMessage[],
  answer: completionFormat,
});

/** @throws GatewayError as `checkChat` */
export function checkCompletion(bytes: Uint8Array, options: CheckChatOptions): CheckedChat {
  return checkRequest(bytes, completionRequestFormat, options).chat;
}

function asInChat(name: string): ChatField {
  const field = ofChat.get(name);
  if (field === undefined) throw new Error(`Chat completions have no field "${name}"`);
  return field;
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
