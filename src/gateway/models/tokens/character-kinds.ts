/** The kinds of characters on which the estimate of a text's tokens depends. */

/** Kinds of UTF-16 code units. Five bits each. */
export const kind = {
  none: 0,
  /** And `h`, which softens the consonant before it. */
  vowel: 1,
  consonant: 2,
  /** Seldom within a word: j, q, x and z. */
  rareConsonant: 3,
  upperVowel: 4,
  upperConsonant: 5,
  upperRareConsonant: 6,
  /** Letters of Western Europe beyond ASCII. */
  accented: 7,
  /** Letters of Central Europe and Turkey, in fewer words of a vocabulary. */
  hooked: 8,
  digit: 9,
  space: 10,
  newline: 11,
  /** Marks that code and prose have many of, often several as one token. */
  mark: 12,
  oddMark: 13,
  /** Marks that lines are drawn with: o200k has tokens for long runs of one of them. Each is a kind of its own, since only such runs are cheap. */
  hyphen: 14,
  equals: 15,
  asterisk: 16,
  hash: 17,
  underscore: 18,
  dot: 19,
  /** Letters of scripts with many words in the vocabulary: Cyrillic, Arabic, Devanagari. */
  letter: 20,
  /** Letters of scripts with few words in it: Greek, Hebrew, Thai, Tamil, Georgian and others. */
  lessKnown: 21,
  /** Chinese, Japanese and Korean. */
  syllable: 22,
  /** Quotation marks, dashes and punctuation of East Asia. */
  wideMark: 23,
  symbol: 24,
  box: 25,
  /** Scripts whose characters are two tokens: Ethiopic, Tibetan, Lao and others. */
  halfKnown: 26,
  /** A token for every byte. */
  unknown: 27,
  emoji: 28,
  /** The first half of a character beyond the basic plane that is no emoji. */
  astral: 29,
  /** The second half of such a character, or of an emoji. */
  low: 30,
} as const;

/** The kinds of ASCII letters are below. */
export const letterKindsEnd = kind.accented;

/** The kinds of code units from a number to the next; the last ends at U+FFFF. ASCII is below. */
const blocks: readonly (readonly [number, number])[] = [
  [0x80, kind.symbol],
  [0xc0, kind.accented],
  [0x100, kind.hooked],
  [0x180, kind.accented],
  [0x250, kind.halfKnown],
  [0x370, kind.lessKnown],
  [0x400, kind.letter],
  [0x530, kind.lessKnown],
  [0x600, kind.letter],
  [0x700, kind.halfKnown],
  [0x800, kind.unknown],
  [0x900, kind.letter],
  [0x980, kind.lessKnown],
  [0xe80, kind.halfKnown],
  [0x1000, kind.lessKnown],
  [0x1100, kind.unknown],
  [0x1200, kind.halfKnown],
  [0x1380, kind.unknown],
  [0x1780, kind.lessKnown],
  [0x1800, kind.unknown],
  // Vietnamese, whose words a vocabulary has with their accents.
  [0x1e00, kind.vowel],
  [0x1f00, kind.halfKnown],
  [0x2000, kind.wideMark],
  [0x2070, kind.symbol],
  [0x2500, kind.box],
  [0x2580, kind.symbol],
  [0x2800, kind.unknown],
  [0x3000, kind.wideMark],
  [0x3040, kind.syllable],
  [0x3100, kind.unknown],
  [0x4e00, kind.syllable],
  [0xa000, kind.unknown],
  [0xac00, kind.syllable],
  [0xd7b0, kind.unknown],
  [0xd800, kind.astral],
  [0xd835, kind.emoji],
  [0xd836, kind.astral],
  [0xd83c, kind.emoji],
  [0xd83f, kind.astral],
  [0xdc00, kind.low],
  [0xe000, kind.unknown],
  [0xfe00, kind.wideMark],
  [0xfe70, kind.halfKnown],
  [0xff00, kind.wideMark],
];

const ascii: readonly (readonly [string, number])[] = [
  ["bcdfgklmnprstvw", kind.consonant],
  ["jqxz", kind.rareConsonant],
  ["aeiouyh", kind.vowel],
  ["BCDFGKLMNPRSTVW", kind.upperConsonant],
  ["JQXZ", kind.upperRareConsonant],
  ["AEIOUYH", kind.upperVowel],
  ["0123456789", kind.digit],
  [" \t", kind.space],
  ["\r\n", kind.newline],
  ["\"'(),/:;[]{}", kind.mark],
  ["-", kind.hyphen],
  ["=", kind.equals],
  ["*", kind.asterisk],
  ["#", kind.hash],
  ["_", kind.underscore],
  [".", kind.dot],
];

/** The kind of each UTF-16 code unit. */
export function kindsOfCodeUnits(): Uint8Array {
  const all = new Uint8Array(0x1_0000).fill(kind.oddMark, 0, 0x80);
  for (const [characters, one] of ascii) for (const character of characters) all[character.charCodeAt(0)] = one;
  for (const [place, [start, one]] of blocks.entries()) all.fill(one, start, blocks[place + 1]?.[0] ?? all.length);
  return all;
}

export const isUpper = (one: number): boolean => one >= kind.upperVowel && one <= kind.upperRareConsonant;
export const isRare = (one: number): boolean => one === kind.rareConsonant || one === kind.upperRareConsonant;
export const isConsonant = (one: number): boolean => isRare(one) || one === kind.consonant || one === kind.upperConsonant;
export const isLatin = (one: number): boolean => one >= kind.vowel && one <= kind.hooked;
export const isMark = (one: number): boolean => one >= kind.mark && one <= kind.dot;
