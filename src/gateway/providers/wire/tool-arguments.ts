/** The arguments of a tool call: text in chat completions, an object in some other formats. */
import { quote, comma, backslash, openBracket, closeBracket, openBrace, closeBrace } from "../../../http/json-bytes.ts";
import { jsonDepthMax, jsonValuesMax } from "../../../http/limits.ts";
import { asObject, parseJson, type JsonObject } from "./json.ts";

/**
 * Parses the arguments of a request's calls, one after another. They are JSON within strings, which the check of the request's
 * own depth and values has not seen, so together they may be as deep and as many as a whole request.
 */
export class ToolArguments {
  #values = 0;

  /**
   * An empty text is a call without arguments.
   * @returns null if it is not a JSON object, too deep, or has too many values
   */
  read(text: string): JsonObject | null {
    if (text === "") return {};
    return this.#isBounded(text) ? asObject(parseJson(text)) : null;
  }

  #isBounded(text: string): boolean {
    let depth = 0;
    let quoted = false;
    this.#values++;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === quote) quoted = !quoted;
      else if (quoted) at += unit === backslash ? 1 : 0;
      else if (unit === comma) this.#values++;
      else if (unit === openBrace || unit === openBracket) depth++;
      else if (unit === closeBrace || unit === closeBracket) depth--;
      if (depth > jsonDepthMax || this.#values > jsonValuesMax) return false;
    }
    return true;
  }
}
