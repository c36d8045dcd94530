/**
 * Finds connectors by typed words, the best first. The page, the API, the Console and the command line share it.
 *
 * Every word that is not idle must begin a word of the connector: of its name, another name, its vendor, its category or a connection
 * method. A whole name ranks above the beginning of a name, and that above single words; among equals, the more popular connector comes
 * first, then the shorter name. If nothing is found, the search also looks within words, and then allows one typo in each word.
 */
import {
  places,
  type PlaceOfTerm,
  type Searchable,
  type SearchTerms,
  type Places,
  joined,
  tellingWords,
  wordsOf,
} from "./search-terms.ts";

export interface Found<Entry> {
  /** The best first; without words, all of them, sorted by id. */
  connectors: readonly Entry[];
  /** The words that were searched for instead of mistyped ones; null if the typed ones found something, or nothing was found. */
  didYouMean: string | null;
}

export function search<Entry extends Searchable>(q: string, terms: SearchTerms<Entry>): Found<Entry> {
  if (q.trim() === "") return { connectors: terms.entries, didYouMean: null };
  const words = wordsOf(q);
  const connectors = ranked(worthsOf(words, terms), terms);
  if (connectors.length > 0) return { connectors, didYouMean: null };
  const corrected = words.map((word) => correctionOf(word, terms));
  const others = ranked(worthsOf(corrected, terms), terms);
  return { connectors: others, didYouMean: others.length > 0 ? corrected.join(" ") : null };
}

/** The score of each entry; 0: not found. */
type Worths = Int32Array;

function ranked<Entry extends Searchable>(worths: Worths, { entries, popularity }: SearchTerms<Entry>): Entry[] {
  const found: { one: Entry; worth: number; popular: number }[] = [];
  for (let entry = 0; entry < worths.length; entry++) {
    const [one, worth = 0] = [entries[entry], worths[entry]];
    if (one !== undefined && worth > 0) found.push({ one, worth, popular: popularity[entry] ?? Infinity });
  }
  // Equals stay sorted by id.
  found.sort(
    (a, b) => b.worth - a.worth || (a.popular === b.popular ? 0 : a.popular - b.popular) || a.one.name.length - b.one.name.length,
  );
  return found.map(({ one }) => one);
}

function worthsOf(words: readonly string[], terms: SearchTerms<Searchable>): Worths {
  const telling = tellingWords(words);
  const worths = sum(
    inAll(telling.map((word) => worthsOfWord(word, terms))),
    worthsOfWhole([joined(words), joined(telling)], terms),
  );
  return isEmpty(worths) ? inAll(telling.map((word) => worthsWithin(word, terms))) : worths;
}

function sum(one: Worths, other: Worths): Worths {
  for (let entry = 0; entry < other.length; entry++) one[entry] = (one[entry] ?? 0) + (other[entry] ?? 0);
  return one;
}

/** The sum of each entry's scores; 0 for an entry that lacks a word, and for all entries if there are no words. */
function inAll(found: readonly Worths[]): Worths {
  const [first = new Int32Array(), ...others] = found;
  // Plain loops: a closure for each entry would take three times as long as the rest of a search.
  for (const other of others) {
    for (let entry = 0; entry < first.length; entry++) {
      const [sum = 0, further = 0] = [first[entry], other[entry]];
      first[entry] = sum === 0 || further === 0 ? 0 : sum + further;
    }
  }
  return first;
}

/** The score of a match with the whole term or with its beginning. */
type Worth = Record<PlaceOfTerm, { whole: number; start: number }>;

const worthOfWord: Worth = {
  name: { whole: 100, start: 80 },
  product: { whole: 100, start: 80 },
  part: { whole: 90, start: 70 },
  vendor: { whole: 60, start: 45 },
  other: { whole: 30, start: 20 },
  kind: { whole: 30, start: 20 },
};

function worthsOfWord(word: string, { words, entries }: SearchTerms<Searchable>): Worths {
  const worths = new Int32Array(entries.length);
  for (const { text, places } of words.beginningWith(word)) raise(worths, places, { worth: worthOfWord, whole: text === word });
  return worths;
}

function raise(worths: Worths, found: Places, { worth, whole }: { worth: Worth; whole: boolean }): void {
  for (const [entry, place] of found) {
    const name = places[place];
    const gained = name === undefined ? 0 : worth[name][whole ? "whole" : "start"];
    if (gained > (worths[entry] ?? 0)) worths[entry] = gained;
  }
}

/** A whole name scores higher than any number of single words. */
const worthOfPhrase: Worth = {
  name: { whole: 100_000, start: 40_000 },
  product: { whole: 90_000, start: 35_000 },
  part: { whole: 0, start: 0 },
  other: { whole: 90_000, start: 30_000 },
  vendor: { whole: 20_000, start: 10_000 },
  kind: { whole: 200, start: 100 },
};

/** "monday.com" is a whole name with its idle word, "Okta, Inc." without it. */
function worthsOfWhole(texts: readonly string[], { phrases, entries }: SearchTerms<Searchable>): Worths {
  const worths = new Int32Array(entries.length);
  for (const whole of new Set(texts.filter((text) => text !== ""))) {
    for (const { text, places } of phrases.beginningWith(whole))
      raise(worths, places, { worth: worthOfPhrase, whole: text === whole });
  }
  return worths;
}

function isEmpty(worths: Worths): boolean {
  for (const worth of worths) if (worth > 0) return false;
  return true;
}

/** A single letter occurs in nearly every word. */
function worthsWithin(word: string, { words, entries }: SearchTerms<Searchable>): Worths {
  const worths = new Int32Array(entries.length);
  if (word.length < 2) return worths;
  for (const { places } of words.where((term) => term.includes(word)))
    raise(worths, places, { worth: worthOfWord, whole: false });
  return worths;
}

/** Shorter words have too many neighbours. */
const typoLettersMin = 4;

/** The known word one typo away, of the most popular connector; the word itself if it is known or none is near. */
function correctionOf(word: string, { words, popularity }: SearchTerms<Searchable>): string {
  if (word.length < typoLettersMin || words.beginningWith(word).length > 0) return word;
  const near = words.where((term) => term.length >= typoLettersMin && oneTypoApart(word, term));
  let [best, rank] = [word, NaN];
  for (const { text, places } of near) {
    const own = Math.min(...places.map(([entry]) => popularity[entry] ?? Infinity));
    if (Number.isNaN(rank) || own < rank) [best, rank] = [text, own];
  }
  return best;
}

/**
 * Whether two different words are one typo apart: an extra, missing or wrong letter, or two adjacent letters swapped (a restricted
 * Damerau-Levenshtein distance of 1).
 */
function oneTypoApart(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (long.length - short.length > 1 || short === long) return false;
  const first = firstDifference(short, long);
  if (long.length > short.length) return short.slice(first) === long.slice(first + 1);
  if (short.slice(first + 1) === long.slice(first + 1)) return true;
  const exchanged = short[first] === long[first + 1] && short[first + 1] === long[first];
  return exchanged && short.slice(first + 2) === long.slice(first + 2);
}

function firstDifference(short: string, long: string): number {
  let index = 0;
  while (index < short.length && short[index] === long[index]) index++;
  return index;
}
