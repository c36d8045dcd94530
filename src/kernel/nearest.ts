/** Bounds the work on a word that a client sent; known names are shorter. */
const lettersMax = 100;

/** The candidate with the fewest edits from `word`, for messages such as "did you mean"; undefined: there are no candidates. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const beginning = word.slice(0, lettersMax).toLowerCase();
  let best: { candidate: string; edits: number } | undefined;
  for (const candidate of candidates) {
    const edits = editDistance({ from: beginning, to: candidate.toLowerCase() });
    if (!best || edits < best.edits) best = { candidate, edits };
  }
  return best?.candidate;
}

/** Insertions, deletions and substitutions (Levenshtein), one row of the table at a time. */
function editDistance({ from, to }: { from: string; to: string }): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [column, other] of [...to].entries()) {
      const substituted = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(substituted, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
