/** Detects the end of one JSON object in pieces of text: where one call's arguments end and the next one's begin. */
import { backslash, closeBracket, closeBrace, openBracket, openBrace, quote } from "../../../http/json-bytes.ts";

export class WholeObject {
  #depth = 0;
  #quoted = false;
  #escaped = false;
  #begun = false;

  /** Whether an object has begun and ended. */
  get closed(): boolean {
    return this.#begun && this.#depth === 0;
  }

  feed(text: string): void {
    for (let at = 0; at < text.length; at++) this.#take(text.charCodeAt(at));
  }

  #take(unit: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (this.#quoted && unit === backslash) this.#escaped = true;
    else if (unit === quote) this.#quoted = !this.#quoted;
    else if (this.#quoted) return;
    else if (unit === openBrace || unit === openBracket) {
      this.#depth++;
      this.#begun = true;
    } else if (unit === closeBrace || unit === closeBracket) this.#depth--;
  }
}
