/** Reads the commands of a block of `sh`: enough of a shell's grammar for what pages print, and an error for the rest. */

export interface ShellCommand {
  /** Names of the variables that are set before it, or by `export`. */
  sets: string[];
  /** The program and its arguments. Empty: the command only sets variables. */
  words: string[];
}

interface Reading {
  commands: string[][];
  words: string[];
  word: string | null;
}

const reserved = new Set(["do", "then", "else", "if", "while", "until", "{", "!"]);
const closing = new Set(["done", "fi", "}", "for", "case", "esac"]);

/** @throws Error for a quote that is not closed */
export function shellCommands(text: string): ShellCommand[] {
  const { commands, nested } = splitCommands(text.replaceAll("\\\n", " "));
  return [...commands.flatMap(commandOf), ...nested.flatMap(shellCommands)];
}

function commandOf(all: string[]): ShellCommand[] {
  const words = all.slice(all.findIndex((word) => !reserved.has(word)));
  if (words[0] === undefined || reserved.has(words[0]) || closing.has(words[0])) return [];
  const isAssignment = (word: string): boolean => /^\w+=/.test(word);
  const start = words[0] === "export" ? 1 : 0;
  const end = words.findIndex((word, index) => index >= start && !isAssignment(word));
  const sets = words.slice(start, end === -1 ? undefined : end).map((word) => word.slice(0, word.indexOf("=")));
  return [{ sets, words: end === -1 ? [] : words.slice(end) }];
}

/** Words by command, without redirections; `nested` are the texts of `$(…)`. */
function splitCommands(text: string): { commands: string[][]; nested: string[] } {
  const reading: Reading = { commands: [], words: [], word: null };
  const nested: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    if (char === "$" && text[at + 1] === "(") {
      const end = closingAt(text, at + 1);
      nested.push(text.slice(at + 2, end));
      reading.word = `${reading.word ?? ""}$()`;
      at = end;
    } else if (char === "'" || char === '"') at = readQuoted({ text, at, reading, nested });
    else if (char === "\\") reading.word = (reading.word ?? "") + (text[++at] ?? "");
    else if (char === "#" && reading.word === null) at = endOfLine(text, at) - 1;
    else if (/[ \t]/.test(char)) endWord(reading);
    else if (/[\n;|&]/.test(char) && !isRedirection(text, at)) endCommand(reading);
    else reading.word = (reading.word ?? "") + char;
  }
  endCommand(reading);
  return { commands: reading.commands, nested };
}

/** @returns where the quoted part ends */
function readQuoted({ text, at, reading, nested }: { text: string; at: number; reading: Reading; nested: string[] }): number {
  const quote = text[at] ?? "";
  let value = "";
  for (let next = at + 1; next < text.length; next++) {
    const char = text[next] ?? "";
    if (char === quote) {
      reading.word = (reading.word ?? "") + value;
      return next;
    }
    if (quote === '"' && char === "\\" && /["\\$`]/.test(text[next + 1] ?? "")) value += text[++next] ?? "";
    else if (quote === '"' && char === "$" && text[next + 1] === "(") {
      const end = closingAt(text, next + 1);
      nested.push(text.slice(next + 2, end));
      value += "$()";
      next = end;
    } else value += char;
  }
  throw new Error(`a ${quote} is not closed`);
}

function closingAt(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === "(") depth++;
    if (text[at] === ")" && --depth === 0) return at;
  }
  throw new Error("a $( is not closed");
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** `2>&1` */
function isRedirection(text: string, at: number): boolean {
  return text[at] === "&" && text[at - 1] === ">";
}

function endWord(reading: Reading): void {
  if (reading.word !== null) reading.words.push(reading.word);
  reading.word = null;
}

function endCommand(reading: Reading): void {
  endWord(reading);
  const words = withoutRedirections(reading.words);
  if (words.length > 0) reading.commands.push(words);
  reading.words = [];
}

function withoutRedirections(words: string[]): string[] {
  const isAlone = (word: string | undefined): boolean => word !== undefined && /^\d*(?:>>?|<)$/.test(word);
  return words.filter((word, index) => !/^\d*(?:>|<)(?!\()/.test(word) && !isAlone(words[index - 1]));
}
