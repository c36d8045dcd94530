/** The size of an answer's texts, from which tokens are estimated if a provider does not count them. */
import { Buffer } from "node:buffer";
import { isJsonObject } from "../../../http/json-object.ts";

const bytesPerToken = 4;

/** UTF-8 bytes of the texts in a message or in one delta of it: content, refusal, reasoning, names and arguments of calls. */
export function textBytes(part: Record<string, unknown>): number {
  let bytes =
    sizeOf(part["content"]) + sizeOf(part["refusal"]) + sizeOf(part["reasoning_content"]) + callBytes(part["function_call"]);
  const calls = part["tool_calls"];
  if (!Array.isArray(calls)) return bytes;
  for (const call of calls) {
    if (isJsonObject(call)) bytes += callBytes(call["function"]) + callBytes(call["custom"]);
  }
  return bytes;
}

/** One token for every started four bytes. */
export function estimatedTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

function callBytes(call: unknown): number {
  return isJsonObject(call) ? sizeOf(call["name"]) + sizeOf(call["arguments"]) + sizeOf(call["input"]) : 0;
}

function sizeOf(text: unknown): number {
  return typeof text === "string" ? Buffer.byteLength(text) : 0;
}
