/** Assembles the message of an answer from its pieces, up to a bound. A whole answer is one piece. */
import { isJsonObject } from "../../http/json-object.ts";
import { storedAnswerCharactersMax } from "./limits.ts";

type Fields = Record<string, unknown>;

export class AnswerAssembler {
  #message: Fields | null = null;
  #room = storedAnswerCharactersMax;
  #truncated = false;

  /** null: no piece had content. */
  get message(): Fields | null {
    return this.#message;
  }

  /** Count of characters in its texts. */
  get characters(): number {
    return storedAnswerCharactersMax - this.#room;
  }

  /** Whether the answer was longer than the bound. */
  get truncated(): boolean {
    return this.#truncated;
  }

  /** @param piece in the form of a chat completion's delta: texts are appended, tool calls are merged by their index */
  append({ role: _role, ...piece }: Fields): void {
    if (this.#truncated || Object.keys(piece).length === 0) return;
    this.#message = this.#join(this.#message ?? blank(), piece);
  }

  #join(fields: Fields, piece: Fields): Fields {
    for (const [name, more] of Object.entries(piece)) fields[name] = this.#joinValue(fields[name], more);
    return fields;
  }

  #joinValue(value: unknown, more: unknown): unknown {
    if (typeof more === "string") return this.#joinText(typeof value === "string" ? value : "", more);
    if (Array.isArray(more)) return this.#joinList(Array.isArray(value) ? value : [], more);
    if (isJsonObject(more)) return this.#join(isJsonObject(value) ? value : blank(), more);
    return more ?? value ?? null;
  }

  #joinText(text: string, more: string): string {
    const kept = more.slice(0, this.#room);
    this.#room -= kept.length;
    this.#truncated ||= kept.length < more.length;
    return text + kept;
  }

  #joinList(list: unknown[], pieces: unknown[]): unknown[] {
    for (const piece of pieces) {
      const { index, ...rest } = isJsonObject(piece) ? piece : {};
      const known = typeof index === "number" && list[index] !== undefined;
      list[known ? index : list.length] = this.#joinValue(known ? list[index] : undefined, isJsonObject(piece) ? rest : piece);
    }
    return list;
  }
}

/** Without a prototype, so that a provider's field named `__proto__` is an ordinary field. */
function blank(): Fields {
  return Object.create(null);
}
