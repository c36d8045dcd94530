/** What an encoded request has more than the client sent (`WireFormat.addedBytes`). */
import { Buffer } from "node:buffer";
import { inputTokensBound } from "../../models/tokens/input-tokens.ts";
import type { ChatBody } from "../provider.ts";
import { asArray, asObject, asText, parseJson, type JsonObject } from "./json.ts";

/**
 * The fields that describe tools and the answer.
 * @param sent as they are encoded, whatever their names
 */
export function addedToFields({ tools, tool_choice, response_format }: ChatBody, sent: JsonObject): number {
  return Math.max(0, bytesOf(sent) - inputTokensBound({ messages: [], tools, tool_choice, response_format }));
}

/** Arguments that are sent as objects: of all JSON only numbers become longer when they are written anew, as 1e20 does. */
export function addedToArguments({ messages }: ChatBody): number {
  let bytes = 0;
  for (const { tool_calls, function_call } of messages) {
    const calls = asArray(tool_calls).map((call) => asObject(call)?.["function"]);
    for (const called of [...calls, function_call]) {
      const text = asText(asObject(called)?.["arguments"]);
      if (text !== null && /\d[eE]/.test(text)) bytes += Math.max(0, bytesOf(parseJson(text)) - Buffer.byteLength(text));
    }
  }
  return bytes;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "");
}
