/**
 * The ids of a conversation's calls in the form that an API accepts, and each id only once. Some providers number the calls of each
 * answer from 0, so that a conversation repeats an id: the results of a repeated id go to its calls in their order.
 */
export class ToolUseIds {
  readonly #used = new Set<string>();
  /** By the client's id. */
  readonly #calls = new Map<string, SameId>();
  readonly #formed: (id: string) => string;

  /** @param formed returns what is sent for an id; what it has returned stays the same */
  constructor(formed: (id: string) => string) {
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
