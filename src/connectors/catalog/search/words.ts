/** How a text becomes the words that a search compares: in lower case, without accents and punctuation. */

/** "Élan Vital!" gives `elan` and `vital`. */
export function wordsOf(text: string): string[] {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
}

/** The parts of names in mixed case: "BambooHR" gives `bamboo` and `hr`, "Okta" nothing. */
export function partsOf(name: string): string[] {
  return name.split(/\s+/).flatMap((word) => {
    const parts = wordsOf(word.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2"));
    return parts.length > wordsOf(word).length ? parts.filter((part) => part.length > 1) : [];
  });
}

/** Joined, so that "Service Now" and "ServiceNow" are the same. */
export function joined(words: readonly string[]): string {
  return words.join("");
}

/** They may be typed, but no name has to contain them. */
const idle = new Set(["a", "an", "and", "by", "com", "corp", "for", "gmbh", "inc", "io", "llc", "ltd", "of", "the"]);

/** The typed words that have to be found; all of them, if all are idle. */
export function tellingWords(words: readonly string[]): readonly string[] {
  const telling = words.filter((word) => !idle.has(word));
  return telling.length > 0 ? telling : words;
}
