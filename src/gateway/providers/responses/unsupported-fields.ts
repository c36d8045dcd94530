/** The fields that the official schema allows and the Responses API does not support. */
import { asArray, asObject } from "../wire/json.ts";
import type { ChatBody, ChatMessage, UnsupportedField } from "../provider.ts";
import { cacheBreakpoints } from "../wire/cache-breakpoints.ts";
import { because } from "../wire/because.ts";

const fieldsCarried = new Set([
  "model",
  "messages",
  "temperature",
  "top_p",
  "logprobs",
  "top_logprobs",
  "verbosity",
  "reasoning_effort",
  "response_format",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
]);
/** `reasoning_content` is left out: what the model wants back is the encrypted reasoning in the calls' ids. */
const messageFieldsCarried = new Set(["role", "content", "name", "refusal", "tool_calls", "tool_call_id", "reasoning_content"]);

/** See `WireFormat.unsupportedField`. */
export function responsesUnsupportedField(chat: ChatBody): UnsupportedField | null {
  for (const unsupportedField of findAll(chat)) return unsupportedField;
  return null;
}

function* findAll(chat: ChatBody): Generator<UnsupportedField> {
  yield* inMessages(chat.messages);
  for (const field of Object.keys(chat)) if (!fieldsCarried.has(field)) yield because(field);
  const format = asObject(chat["response_format"]);
  if (format?.["type"] === "json_schema" && !asObject(asObject(format["json_schema"])?.["schema"])) {
    yield because("response_format.json_schema.schema", "a format without a schema");
  }
  for (const breakpoint of cacheBreakpoints(chat)) yield because(breakpoint);
}

function* inMessages(messages: readonly ChatMessage[]): Generator<UnsupportedField> {
  const called = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (message.role === "function") yield because(`${at}.role`, "the role function; use tools");
    for (const field of Object.keys(message)) if (!messageFieldsCarried.has(field)) yield because(`${at}.${field}`);
    if (message.role === "tool" && !called.has(message["tool_call_id"])) {
      yield because(`${at}.tool_call_id`, "an id without an earlier call");
    }
    for (const call of asArray(message["tool_calls"])) called.add(asObject(call)?.["id"]);
  }
}
