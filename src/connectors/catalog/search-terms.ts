/**
 * The terms by which connectors are found, built once for a catalog, so that a search compares only terms. Texts are compared in lower
 * case, without accents or punctuation. Terms are sorted, so that binary search finds all that begin with a text. If an entry has a term in
 * several places, the best place counts.
 */
import { byCodeUnits } from "../../kernel/text.ts";
import { methodNames } from "./files/columns.ts";
import { noSearchWords } from "./files/judge.ts";
import type { ConnectorCatalog, Method, SearchWords } from "./files/schema.ts";

/** What a search needs of a connector. */
export interface Searchable {
  id: string;
  slug: string;
  name: string;
  vendor: string;
  category: string;
  methods: readonly Method[];
}

/**
 * Where a connector has a term, the best first: in its name, in the name without its vendor's, within a word such as the "HR" of
 * "BambooHR", in its vendor's name, in another name, or in the words for its category and connection methods.
 */
export const places = ["name", "product", "part", "vendor", "other", "kind"] as const;
export type PlaceOfTerm = (typeof places)[number];

/** What is known beyond the published rows. */
export interface SearchKnowledge {
  /** Other and former names, by connector id. */
  aka: ReadonlyMap<string, readonly string[]>;
  words: SearchWords;
}

/** With it, connectors are found only by what their rows say. */
export const nothingKnown: SearchKnowledge = { aka: new Map(), words: noSearchWords };

export function knowledgeOf({ connectors }: Pick<ConnectorCatalog, "connectors">, words: SearchWords): SearchKnowledge {
  return { aka: new Map(connectors.map(({ id, aka = [] }) => [id, aka])), words };
}

export interface SearchTerms<Entry extends Searchable> {
  /** Sorted by id. */
  entries: readonly Entry[];
  /** Single words. */
  words: SortedTerms;
  /** Whole names without spaces. */
  phrases: SortedTerms;
  /** Rank of each entry: 0 is the most popular; Infinity for most. */
  popularity: readonly number[];
}

/** @param entries sorted by id */
export function searchTermsOf<Entry extends Searchable>(
  entries: readonly Entry[],
  { aka, words: known }: SearchKnowledge,
): SearchTerms<Entry> {
  const terms = new Terms();
  const others = Map.groupBy(known.connectors, ({ connector }) => connector);
  const ranks = new Map(known.popular.map((id, rank) => [id, rank]));
  const kinds = new Kinds(known);
  for (const [entry, one] of entries.entries()) {
    for (const name of [one.name, one.slug]) terms.addName(name, { entry, place: "name" });
    for (const part of partsOf(one.name)) terms.addWord(part, { entry, place: "part" });
    const product = productWords(one);
    if (!product.every((word) => kinds.has(word))) terms.addPhrase(product, { entry, place: "product" });
    const known = [...(aka.get(one.id) ?? []), ...(others.get(one.id) ?? []).flatMap(({ words }) => words)];
    for (const name of known) terms.addName(name, { entry, place: "other" });
    terms.addName(one.vendor, { entry, place: "vendor" });
    for (const words of kinds.of(one)) {
      const [only, more] = words;
      // "single sign-on" is found only as a whole: its words alone say too little.
      if (only !== undefined && more === undefined) terms.addWord(only, { entry, place: "kind" });
      else terms.addPhrase(words, { entry, place: "kind" });
    }
  }
  const popularity = entries.map(({ id }) => ranks.get(id) ?? Infinity);
  return { entries, words: new SortedTerms(terms.words), phrases: new SortedTerms(terms.phrases), popularity };
}

/** The most popular entries, in order. */
export function bestKnown<Entry extends Searchable>({ entries, popularity }: SearchTerms<Entry>, most: number): Entry[] {
  const ranked = entries.map((one, entry) => ({ one, rank: popularity[entry] ?? Infinity }));
  const known = ranked.filter(({ rank }) => Number.isFinite(rank)).toSorted((one, other) => one.rank - other.rank);
  return known.slice(0, most).map(({ one }) => one);
}

type EntriesByTerm = Map<string, Map<number, number>>;

interface Place {
  entry: number;
  place: PlaceOfTerm;
}

/** Collects terms. */
class Terms {
  readonly words: EntriesByTerm = new Map();
  readonly phrases: EntriesByTerm = new Map();

  addName(name: string, place: Place): void {
    const words = wordsOf(name);
    for (const word of words) add(this.words, word, place);
    this.addPhrase(words, place);
  }

  addWord(word: string, place: Place): void {
    add(this.words, word, place);
  }

  addPhrase(words: readonly string[], place: Place): void {
    if (words.length > 0) add(this.phrases, joined(words), place);
  }
}

/** The words of categories and connection methods. */
class Kinds {
  readonly #ofCategory: ReadonlyMap<string, string[][]>;
  readonly #ofMethod: ReadonlyMap<string, string[][]>;
  readonly #words: ReadonlySet<string>;

  constructor({ categories, methods }: SearchWords) {
    this.#ofCategory = new Map(categories.map(({ category, words }) => [category, words.map(wordsOf)]));
    this.#ofMethod = new Map(methods.map(({ method, words }) => [method, words.map(wordsOf)]));
    const own = categories.flatMap(({ category, words }) => [
      ...wordsOf(category),
      ...words.map((word) => joined(wordsOf(word))),
    ]);
    this.#words = new Set(own);
  }

  /** "Cloud" is a kind of product, not the name of one. */
  has(word: string): boolean {
    return this.#words.has(word);
  }

  of({ category, methods }: Searchable): string[][] {
    const name = wordsOf(category);
    return [
      name,
      ...name.map((word) => [word]),
      ...(this.#ofCategory.get(category) ?? []),
      ...methods.flatMap((method) => [wordsOf(methodNames[method]), ...(this.#ofMethod.get(method) ?? [])]),
    ];
  }
}

/** The entries that have a term, each with its best place; lower is better. */
export type Places = readonly (readonly [entry: number, place: number])[];

interface Term {
  text: string;
  places: Places;
}

/** Terms in alphabetical order, each with the entries that have it. */
class SortedTerms {
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

/** The words that a search compares: "Élan Vital!" gives `elan` and `vital`. */
export function wordsOf(text: string): string[] {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
}

/** Joined, so that "Service Now" equals "ServiceNow". */
export function joined(words: readonly string[]): string {
  return words.join("");
}

/** May be typed, but need not occur in a name. */
const idle = new Set(["a", "an", "and", "by", "com", "corp", "for", "gmbh", "inc", "io", "llc", "ltd", "of", "the"]);

/** The typed words that must be found; all of them, if all are idle. */
export function tellingWords(words: readonly string[]): readonly string[] {
  const telling = words.filter((word) => !idle.has(word));
  return telling.length > 0 ? telling : words;
}

/** The parts of mixed-case names: "BambooHR" gives `bamboo` and `hr`, "Okta" nothing. */
function partsOf(name: string): string[] {
  return name.split(/\s+/).flatMap((word) => {
    const parts = wordsOf(word.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2"));
    return parts.length > wordsOf(word).length ? parts.filter((part) => part.length > 1) : [];
  });
}

/** The name without the vendor's: "Duo" for "Cisco Duo". */
function productWords({ name, vendor }: Searchable): string[] {
  const ofVendor = new Set(wordsOf(vendor));
  return wordsOf(name).filter((word) => !ofVendor.has(word));
}

function add(terms: EntriesByTerm, term: string, { entry, place }: Place): void {
  const known = terms.get(term) ?? new Map<number, number>();
  terms.set(term, known);
  known.set(entry, Math.min(known.get(entry) ?? Infinity, places.indexOf(place)));
}
