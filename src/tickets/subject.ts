const subjectCharactersMax = 80;

/** The first words of a text as one line, cut at a word where it is longer. */
export function subjectOf(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const characters = [...line];
  if (characters.length <= subjectCharactersMax) return line;
  const cut = characters.slice(0, subjectCharactersMax - 1).join("");
  return `${cut.replace(/ [^ ]*$/, "")}…`;
}
