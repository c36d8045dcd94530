/** Terms in alphabetical order, so that all that begin with a text are found by bisection. Each names the entries that have it. */
import { byCodeUnits } from "../../../kernel/by-code-units.ts";

/** By entry, the best place in which it has the term: the lower the better. */
export type Places = readonly (readonly [entry: number, place: number])[];

interface Term {
  text: string;
  places: Places;
}

export class SortedTerms {
  readonly #terms: readonly Term[];

  constructor(terms: ReadonlyMap<string, ReadonlyMap<number, number>>) {
    const found = Array.from(terms, ([text, places]): Term => ({ text, places: [...places] }));
    this.#terms = found.toSorted((one, other) => byCodeUnits(one.text, other.text));
  }

  /** In alphabetical order. */
  beginningWith(text: string): readonly Term[] {
    const first = this.#firstFrom(text);
    let after = first;
    while (this.#terms[after]?.text.startsWith(text)) after++;
    return this.#terms.slice(first, after);
  }

  /** In alphabetical order; looks at every term. */
  where(fits: (term: string) => boolean): readonly Term[] {
    return this.#terms.filter(({ text }) => fits(text));
  }

  #firstFrom(text: string): number {
    let [low, high] = [0, this.#terms.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#terms[middle]?.text ?? "") < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
