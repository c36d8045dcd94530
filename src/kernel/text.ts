/**
 * Compares, shortens, trims and escapes texts: the nearest of several words, the beginning of a long text, the order of code units, and
 * invisible characters that change how others look. Each function is linear or bounded, because clients choose the texts.
 */

/** Bounds the work on a word that a client sent; known names are shorter. */
const lettersMax = 100;

/**
 * The candidate with the fewest edits from `word`, as in "did you mean".
 * @param editsMax a candidate with more edits does not count; with a small number most candidates cost nothing
 * @returns undefined: there are no candidates
 */
export function nearest(word: string, candidates: readonly string[], editsMax = Infinity): string | undefined {
  const beginning = word.slice(0, lettersMax).toLowerCase();
  let best: string | undefined;
  let limit = editsMax + 1;
  for (const candidate of candidates) {
    const edits = editDistance({ from: beginning, to: candidate.toLowerCase(), limit });
    if (edits < limit) [best, limit] = [candidate, edits];
  }
  return best;
}

/** An untrusted text as one line without control characters. Beyond `charactersMax` it is cut at a word and ends with `…`. */
export function shortened(text: string, charactersMax: number): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  // A character has at most two code units, so the beginning of a long text is enough.
  const beginning = line.slice(0, 2 * charactersMax + 2);
  const characters = [...beginning];
  if (characters.length <= charactersMax) return line;
  const cut = characters.slice(0, charactersMax - 1).join("");
  return `${cut.replace(/ [^ ]*$/, "")}…`;
}

/** The text without the marks at its end. An expression such as /\/+$/ would need n² steps for long runs of marks. */
export function trimmedEnd(text: string, mark: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === mark) end--;
  return text.slice(0, end);
}

/** The order of texts by UTF-16 code units: the same in every locale and every process. For `toSorted`. */
export function byCodeUnits(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/**
 * Invisible characters that change how others look: marks that change the direction of writing or are ignored, and line separators other
 * than the usual line ends. Joiners stay, since scripts and emoji need them.
 */
const invisible = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Escapes them as JSON does (`\u202e`), so that a terminal shows them and the JSON means the same. */
export function showInvisible(text: string): string {
  return text.replaceAll(invisible, escaped);
}

/** @param character of one or two units of UTF-16 */
export function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => unit(character.charCodeAt(index))).join("");
}

/** Insertions, deletions and substitutions (Levenshtein), one row of the table at a time. @returns Infinity when not below the limit */
function editDistance({ from, to, limit }: { from: string; to: string; limit: number }): number {
  if (Math.abs(from.length - to.length) >= limit) return Infinity;
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [column, other] of [...to].entries()) {
      const substituted = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(substituted, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
    if (Math.min(...row) >= limit) return Infinity;
  }
  return row.at(-1) ?? 0;
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}
