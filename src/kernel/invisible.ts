/**
 * Characters that nobody sees, but that change how others look: marks that turn the direction of writing or are read as nothing, and
 * line ends that are no line ends. Joiners stay, since words and signs are made with them.
 */
const invisible = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Writes them as JSON does (`\u202e`), so that a terminal shows them and JSON says the same as before. */
export function showInvisible(text: string): string {
  return text.replaceAll(invisible, escaped);
}

/** @param character of one or two units of UTF-16 */
export function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => unit(character.charCodeAt(index))).join("");
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}
