/** Compares an output with the one that a page prints, where `…` stands for anything and blanks for one another. */

/** @returns null if it is the printed one, else a sentence with the first part that is missing */
export function differenceFrom(printed: string, output: string): string | null {
  const parts = squeezed(printed).split("…").map(trimmed);
  const actual = squeezed(output);
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const found = isLast && part !== "" ? actual.lastIndexOf(part) : actual.indexOf(part, at);
    if (found < at || (index === 0 && found !== 0)) return `"${part}" is missing`;
    at = found + part.length;
  }
  return parts.at(-1) === "" || at === actual.length ? null : `"${actual.slice(at)}" follows`;
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function trimmed(text: string): string {
  return text.trim();
}
