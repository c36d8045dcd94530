import { hash } from "node:crypto";

/**
 * The ids of a conversation's calls in the form that the API accepts: only certain characters, and each id only once. Some other
 * providers number the calls of each answer from 0, so that a conversation repeats an id.
 */
export class ToolUseIds {
  readonly #used = new Set<string>();
  /** By the client's id. */
  readonly #calls = new Map<string, SameId>();

  ofCall(id: string): string {
    const calls = this.#calls.get(id) ?? { count: 0, waiting: [], last: "" };
    this.#calls.set(id, calls);
    const plain = wireId(id);
    calls.last = plain;
    calls.count++;
    while (this.#used.has(calls.last)) calls.last = `${plain}_${++calls.count}`;
    this.#used.add(calls.last);
    calls.waiting.push(calls.last);
    return calls.last;
  }

  /** The id of the call whose result comes next. */
  ofResult(id: string): string {
    const calls = this.#calls.get(id);
    return calls?.waiting.shift() ?? calls?.last ?? wireId(id);
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

/** The same id always maps to the same replacement, so that the provider finds a prompt in its cache. */
function wireId(id: string): string {
  if (/^[a-zA-Z0-9_-]+$/.test(id)) return id;
  const encoded = Buffer.from(id).toString("base64url");
  return `id_${encoded.length <= encodedCharactersMax ? encoded : hash("sha256", id, "base64url")}`;
}
