/**
 * Ids of tool calls in the form that a provider takes. The client keeps its ids: only what is sent has others, the same for a call and for
 * its result, and the same in every request, so that the provider's cache knows the prompt again.
 */
import { createHash } from "node:crypto";
import type { Dialect } from "../../models/dialect.ts";

interface IdForm {
  allows(id: string): boolean;
  /** The same for the same text; other texts have other ids, as far as the form has room. */
  made(text: string): string;
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const charactersMax = 40;
const begin = "call_";

const forms: Record<Dialect["toolCallIds"], IdForm> = {
  any: { allows: () => true, made: (text) => text },
  characters_40: {
    allows: (id) => id.length <= charactersMax,
    made: (text) =>
      `${begin}${digest(text)
        .toString("hex")
        .slice(0, charactersMax - begin.length)}`,
  },
  alphanumeric_9: {
    allows: (id) => /^[a-zA-Z0-9]{9}$/.test(id),
    made: (text) => Array.from(digest(text).subarray(0, 9), (byte) => base62.charAt(byte % base62.length)).join(""),
  },
};

/** The ids of one conversation. */
export class SentToolCallIds {
  readonly #form: IdForm;
  /** By what is sent: whose id it is. */
  readonly #owners = new Map<string, string>();

  constructor(form: Dialect["toolCallIds"]) {
    this.#form = forms[form];
  }

  /** Whether the id is sent unchanged, which keeps it from being made for another. */
  isSentAsIs(id: string): boolean {
    return this.sent(id) === id;
  }

  /** Two ids of one conversation never become one: the later one gets another. */
  sent(id: string): string {
    let candidate = this.#form.allows(id) ? id : this.#form.made(id);
    for (let n = 1; (this.#owners.get(candidate) ?? id) !== id; n++) candidate = this.#form.made(`${n} ${id}`);
    this.#owners.set(candidate, id);
    return candidate;
  }
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
