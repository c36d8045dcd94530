/**
 * Ids of tool calls in the form that a provider accepts. The client keeps its own ids. The ids that are sent are the same for a call and
 * its result, and the same in every request, so that the provider's cache recognizes the prompt.
 */
import { hash } from "node:crypto";
import type { Dialect } from "../../models/dialect.ts";
import { readToolCallId } from "../../tool-call-id.ts";

interface IdForm {
  allows(id: string): boolean;
  /** The same for the same id. */
  made(id: string): string;
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const charactersMax = 40;
const begin = "call_";

const forms: Record<Dialect["toolCallIds"], IdForm> = {
  any: { allows: (id) => readToolCallId(id).signature === null, made: (id) => readToolCallId(id).id },
  characters_40: {
    allows: (id) => id.length <= charactersMax,
    made: (id) => begin + hash("sha256", id, "hex").slice(0, charactersMax - begin.length),
  },
  alphanumeric_9: {
    allows: (id) => /^[a-zA-Z0-9]{9}$/.test(id),
    made: nineOf,
  },
};

/** The ids of one conversation. */
export class SentToolCallIds {
  readonly #form: IdForm;
  /** By the client's id. */
  readonly #sent = new Map<string, string>();
  readonly #taken = new Set<string>();
  #free = 0;

  constructor(form: Dialect["toolCallIds"]) {
    this.#form = forms[form];
  }

  isSentAsIs(id: string): boolean {
    return this.sent(id) === id;
  }

  /** Two ids of a conversation are never sent as the same one: the later gets the next free number, which every form allows. */
  sent(id: string): string {
    const known = this.#sent.get(id);
    if (known !== undefined) return known;
    let made = this.#form.allows(id) ? id : this.#form.made(id);
    // It never looks at a number twice: a client can make many ids that collide.
    while (this.#taken.has(made)) made = String(this.#free++).padStart(9, "0");
    this.#sent.set(id, made);
    this.#taken.add(made);
    return made;
  }
}

/** A body may have 28,000 ids, so this is written for speed. */
function nineOf(id: string): string {
  const bytes = hash("sha256", id, "buffer");
  let nine = "";
  for (let index = 0; index < 9; index++) nine += base62.charAt((bytes[index] ?? 0) % base62.length);
  return nine;
}
