import { isJsonObject } from "../../../http/json-object.ts";
import { TextTokens, tokensOf } from "./text-tokens.ts";

/** The estimate of a whole message. */
export function answerTokens(message: Record<string, unknown>): number {
  const produced = new AnswerTokens();
  produced.add(message);
  return produced.tokens;
}

/** The estimate of an answer: of content, refusal, reasoning, and names and arguments of calls. */
export class AnswerTokens {
  readonly #content = new TextTokens();
  readonly #refusal = new TextTokens();
  readonly #reasoning = new TextTokens();
  readonly #calls = new TextTokens();
  #countedUnits = 0;

  /** @param part a whole message, or one delta of it */
  add(part: Record<string, unknown>): void {
    addText(this.#content, part["content"]);
    addText(this.#refusal, part["refusal"]);
    addText(this.#reasoning, part["reasoning_content"]);
    this.#addCall(part["function_call"]);
    const calls = part["tool_calls"];
    if (!Array.isArray(calls)) return;
    for (const call of calls) {
      if (!isJsonObject(call)) continue;
      this.#addCall(call["function"]);
      this.#addCall(call["custom"]);
    }
  }

  /** A count of the provider includes everything so far. */
  markCounted(): void {
    this.#countedUnits = this.#units;
  }

  get tokens(): number {
    return tokensOf(this.#units);
  }

  /** Of what came after the provider's last count. */
  get uncountedTokens(): number {
    return tokensOf(this.#units - this.#countedUnits);
  }

  get #units(): number {
    return this.#content.units + this.#refusal.units + this.#reasoning.units + this.#calls.units;
  }

  #addCall(call: unknown): void {
    if (!isJsonObject(call)) return;
    addText(this.#calls, call["name"]);
    addText(this.#calls, call["arguments"]);
    addText(this.#calls, call["input"]);
  }
}

function addText(estimate: TextTokens, text: unknown): void {
  if (typeof text === "string") estimate.add(text);
}
