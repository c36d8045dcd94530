/** A foreign text as one line without control characters; above `charactersMax` it is cut at a word and ends with `…`. */
export function shortened(text: string, charactersMax: number): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  // A character has at most two code units, so the beginning of a long text is enough.
  const beginning = line.slice(0, 2 * charactersMax + 2);
  const characters = [...beginning];
  if (characters.length <= charactersMax) return line;
  const cut = characters.slice(0, charactersMax - 1).join("");
  return `${cut.replace(/ [^ ]*$/, "")}…`;
}
