/** Makes texts that are slow for an expression, from its grammar: a repeated match with an end that makes it fail. */
import type { Expression } from "../../../scripts/expressions/collect.ts";

/** Makes a text of the given number of characters. */
export type HostileText = (length: number) => string;

/** Ends that no expression matches, or only some do. */
const mismatches = ["\u0000", "\n!", ""];
const candidates = [..." \t\n0a.A1_-./:;,#\"'\\<>()[]{}=@%+*~!|^$é😀"];

export function hostileTexts(expression: Expression): HostileText[] {
  const pieces = piecesOf(expression);
  const pumped = new Map([...runsOf(pieces), ...pumpedSample(pieces)].map((one) => [`${one.before}\n${one.pump}`, one]));
  return [...pumped.values()].flatMap(({ before, pump }) => {
    return mismatches.map(
      (end): HostileText =>
        (length) =>
          before + pump.repeat(Math.max(1, Math.floor((length - before.length - end.length) / pump.length))) + end,
    );
  });
}

interface Pumped {
  before: string;
  pump: string;
}

/** Repeats one character of each class in the expression, and each pair of neighbours. */
function runsOf(pieces: readonly Piece[]): Pumped[] {
  const letters = [...new Set(pieces.flatMap(({ letter }) => letter ?? []))];
  const pairs = letters.slice(1).map((letter, index) => (letters[index] ?? "") + letter);
  return [...letters, ...pairs].map((pump) => ({ before: "", pump }));
}

/** Repeats a rough match as a whole, and each of its characters after the characters before it. */
function pumpedSample(pieces: readonly Piece[]): Pumped[] {
  const letters = firstAlternatives(pieces).slice(0, 40);
  const each = letters.map((letter, index) => ({ before: letters.slice(0, index).join(""), pump: letter }));
  return letters.length === 0 ? [] : [{ before: "", pump: letters.join("") }, ...each];
}

/** A token of the expression, with a character that it matches; null: the token is grammar. */
interface Piece {
  mark: string;
  letter: string | null;
}

function piecesOf({ source }: Expression): Piece[] {
  const marks = source.match(/\[(?:\\.|[^\]\\])+\]|\\[pP]\{\w+\}|\\.|\(\?(?:<\w+>|[:=!]|<[=!])|\{[\d,]+\}|[^]/gu) ?? [];
  return marks.map((mark) => ({ mark, letter: isGrammar(mark) ? null : letterOf(mark) }));
}

function isGrammar(mark: string): boolean {
  return /^(?:[()|?*+^$]|\(.*|\{.*|\\[bB1-9])$/s.test(mark);
}

function letterOf(mark: string): string | null {
  try {
    const one = new RegExp(`^(?:${mark})$`, "u");
    return candidates.find((letter) => one.test(letter)) ?? null;
  } catch {
    return mark.at(-1) ?? null;
  }
}

/** The first alternative of each group: `ac` for `(a|b)c`. */
function firstAlternatives(pieces: readonly Piece[]): string[] {
  const letters: string[] = [];
  let depth = 0;
  let skipsFrom: number | null = null;
  for (const { mark, letter } of pieces) {
    if (mark.startsWith("(")) depth++;
    if (mark === ")") depth--;
    if (skipsFrom !== null && depth < skipsFrom) skipsFrom = null;
    if (mark === "|") skipsFrom ??= depth;
    if (skipsFrom === null && letter !== null) letters.push(letter);
  }
  return letters;
}
