/**
 * The ids of a conversation's calls in the form that an API accepts. An id that fits is sent as it came, and every id is the same in each
 * request, so that the provider's cache recognizes the prompt.
 * Two ids are never sent as the same one: the later gets the next free number, which every form allows. No number is tried twice, since a
 * client can make many ids that collide.
 * Some providers number the calls of each answer from 0, so that a conversation repeats an id. Where an API refuses that, each call gets an
 * id that no other call has, and the results of a repeated id go to its calls in their order.
 */
export class CallIds {
  readonly #formed: (id: string) => string;
  readonly #used = new Set<string>();
  /** By the client's id. */
  readonly #calls = new Map<string, SameId>();
  #free = 0;

  /** @param formed returns an id that fits as it is, and of another one what is sent for it */
  constructor(formed: (id: string) => string) {
    this.#formed = formed;
  }

  /** For an API that takes repeated ids: the same for a call, for a later call with its id, and for their results. */
  of(id: string): string {
    return this.#calls.get(id)?.last ?? this.ofCall(id);
  }

  /** The id of a call, which no other call has. */
  ofCall(id: string): string {
    let sent = this.#formed(id);
    while (this.#used.has(sent)) sent = String(this.#free++).padStart(9, "0");
    this.#used.add(sent);
    const calls = this.#calls.get(id);
    if (calls === undefined) this.#calls.set(id, { waiting: [sent], last: sent });
    else {
      calls.waiting.push(sent);
      calls.last = sent;
    }
    return sent;
  }

  /** The id of the call whose result comes next. */
  ofResult(id: string): string {
    const calls = this.#calls.get(id);
    return calls?.waiting.shift() ?? calls?.last ?? this.#formed(id);
  }
}

interface SameId {
  /** The calls without a result yet. */
  waiting: string[];
  last: string;
}
