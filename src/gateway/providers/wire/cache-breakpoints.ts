import { asArray, asObject } from "./json.ts";
import type { ChatBody } from "../provider.ts";

/** The paths of a request's cache breakpoints in the order of the prompt, that of the whole request last. */
export function* cacheBreakpoints(chat: ChatBody): Generator<string> {
  yield* within(chat["tools"], "tools");
  for (const [index, { content }] of chat.messages.entries()) yield* within(content, `messages[${index}].content`);
  if (chat["cache_control"] !== undefined) yield "cache_control";
}

function* within(items: unknown, at: string): Generator<string> {
  for (const [index, item] of asArray(items).entries()) {
    if (asObject(item)?.["cache_control"] !== undefined) yield `${at}[${index}].cache_control`;
  }
}
