import { hash } from "node:crypto";

/**
 * The ids of a conversation's calls in the form that an API accepts, and each id only once. Some other providers number the calls of each
 * answer from 0, so that a conversation repeats an id.
 */
export class ToolUseIds {
  readonly #used = new Set<string>();
  /** By the client's id. */
  readonly #calls = new Map<string, SameId>();
  readonly #formed: (id: string) => string;

  /** @param formed returns what is sent for an id; what it has returned stays the same. Default: the form of the Messages API */
  constructor(formed: (id: string) => string = wireId) {
    this.#formed = formed;
  }

  ofCall(id: string): string {
    const calls = this.#calls.get(id) ?? { count: 0, waiting: [], last: "" };
    this.#calls.set(id, calls);
    const plain = this.#formed(id);
    calls.last = plain;
    calls.count++;
    while (this.#used.has(calls.last)) calls.last = this.#formed(`${plain}_${++calls.count}`);
    this.#used.add(calls.last);
    calls.waiting.push(calls.last);
    return calls.last;
  }

  /** The id of the call whose result comes next. */
  ofResult(id: string): string {
    const calls = this.#calls.get(id);
    return calls?.waiting.shift() ?? calls?.last ?? this.#formed(id);
  }
}

interface SameId {
  count: number;
  /** The calls without a result yet. */
  waiting: string[];
  last: string;
}

/** Base64 is a third longer, which is more than is reserved for a long id. */
const encodedCharactersMax = 64;

/** Only certain characters. The same id always maps to the same replacement, so that the provider finds a prompt in its cache. */
function wireId(id: string): string {
  if (/^[a-zA-Z0-9_-]+$/.test(id)) return id;
  const encoded = Buffer.from(id).toString("base64url");
  return `id_${encoded.length <= encodedCharactersMax ? encoded : hash("sha256", id, "base64url")}`;
}
