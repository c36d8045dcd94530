/** The lines of a go.mod file: `verb words` or a block of them, with comments after `//`. */
import { LockFileError } from "../lock-file-error.ts";

export interface GoDirective {
  verb: string;
  words: string[];
  /** The text after `//`. */
  comment: string;
  line: number;
}

/** @throws LockFileError with the line */
export function goDirectives(text: string): GoDirective[] {
  const directives: GoDirective[] = [];
  let block: string | null = null;
  for (const [index, written] of text.split(/\r?\n/).entries()) {
    const line = index + 1;
    const slashes = written.indexOf("//");
    const comment = slashes === -1 ? "" : written.slice(slashes + 2).trim();
    const words = wordsOf(slashes === -1 ? written : written.slice(0, slashes), line);
    const [verb = ""] = words;
    if (words.length === 0) continue;
    if (verb === ")" && block !== null) block = null;
    else if (block !== null) directives.push({ verb: block, words, comment, line });
    else if (words[1] === "(" || verb.endsWith("(")) block = verb.replace(/\($/, "");
    else directives.push({ verb, words: words.slice(1), comment, line });
  }
  if (block !== null) throw new LockFileError(`ends within the block "${block.slice(0, 60)}"`);
  if (directives.length === 0) throw new LockFileError("has no directive such as module");
  return directives;
}

/** Words may be in quotation marks or backquotes. */
function wordsOf(text: string, line: number): string[] {
  const words = text.match(/"[^"]*"|`[^`]*`|[^\s"`]+|["`]/g) ?? [];
  if (words.some((word) => word === '"' || word === "`"))
    throw new LockFileError(`line ${line}: has a quotation mark that is not closed`);
  return words.map((word) => (/^["`]/.test(word) ? word.slice(1, -1) : word));
}
