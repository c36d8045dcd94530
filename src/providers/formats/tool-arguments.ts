/** The arguments of a tool call: text in chat completions, an object for those who want to see it as one. */
import { jsonDepthMax, jsonValuesMax } from "../../limits/constants.ts";
import { asObject, parseJson, type JsonObject } from "../json.ts";

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openings = new Set([0x5b, 0x7b]);
const closings = new Set([0x5d, 0x7d]);

/**
 * Nothing at all calls without arguments.
 * @returns null: it is no JSON object, or one that is nested or filled beyond what a whole request may be
 */
export function toolArguments(text: string): JsonObject | null {
  if (text === "") return {};
  return isBounded(text) ? asObject(parseJson(text)) : null;
}

/** This JSON came within a string, so that the look at the request's own nesting and values has not seen it. */
function isBounded(text: string): boolean {
  let depth = 0;
  let values = 1;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) quoted = !quoted;
    else if (quoted) at += unit === backslash ? 1 : 0;
    else if (unit === comma) values++;
    else if (openings.has(unit)) depth++;
    else if (closings.has(unit)) depth--;
    if (depth > jsonDepthMax || values > jsonValuesMax) return false;
  }
  return true;
}
