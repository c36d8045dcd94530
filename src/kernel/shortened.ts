/** Texts of others in a line of ours. */

/** As one line without control characters; where it has more than `charactersMax`, cut at a word, with `…` at its end. */
export function shortened(text: string, charactersMax: number): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  // Two code units make a character at most: of a long text no more than the beginning is looked at.
  const beginning = line.slice(0, 2 * charactersMax + 2);
  const characters = [...beginning];
  if (characters.length <= charactersMax) return line;
  const cut = characters.slice(0, charactersMax - 1).join("");
  return `${cut.replace(/ [^ ]*$/, "")}…`;
}
