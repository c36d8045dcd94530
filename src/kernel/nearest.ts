/** Bounds the work on a word that a client sent; known names are shorter. */
const lettersMax = 100;

/**
 * The candidate with the fewest edits from `word`, for messages such as "did you mean".
 * @param editsMax a candidate with more edits is none; with a small number most candidates cost no work
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
