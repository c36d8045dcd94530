/** Ranges of versions in words. */

/** @param range such as `>= 1.2.0, < 1.2.9` @returns such as `1.2.0 or later, before 1.2.9`; a text of another form stays */
export function rangeWords(range: string): string {
  const parts = range.split(",").map((part) => /^\s*(>=|<=|<|>|=)\s*(\S+)\s*$/.exec(part));
  const words = parts.map((part) => (part === null ? null : boundWords(part[1] ?? "", part[2] ?? "")));
  if (words.includes(null)) return range;
  const said = words.filter((word) => word !== "");
  return said.length === 0 ? "every version" : said.join(", ");
}

/** Every version is 0 or later, so that bound says nothing. */
function boundWords(comparator: string, version: string): string {
  if (comparator === ">=") return version === "0" ? "" : `${version} or later`;
  if (comparator === "<") return `before ${version}`;
  if (comparator === "<=") return `${version} or earlier`;
  return comparator === ">" ? `after ${version}` : `${version} alone`;
}
