/**
 * Estimates how many tokens a text has, where its provider does not report it. Tokenizers cut a text into pieces: words, groups of up to
 * three digits, marks, and characters of other scripts. Frequent words are one token, and the less a run of letters looks like a word, the
 * more tokens it has. The weight of a character follows from its kind and from the kinds of the two before it, so that one table does it
 * all, in one pass, wherever the text is cut into deltas.
 * The weights were fitted to o200k, the vocabulary of OpenAI's models, over texts of many kinds (test/gateway/models/tokens): within 25 %
 * of it, and never below 80 %. Rare scripts, which o200k takes apart into bytes, may be estimated higher. Other vocabularies are smaller,
 * so their counts are higher rather than lower. The estimate never exceeds the UTF-8 bytes of the text, which are what is reserved.
 */
/** Kinds of UTF-16 code units. Five bits each. */
const kind = {
  none: 0,
  /** And `h`, which softens the consonant before it. */
  vowel: 1,
  consonant: 2,
  /** Rare within a word: j, q, x and z. */
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
  /** Marks that are common in code and prose, often several in one token. */
  mark: 12,
  oddMark: 13,
  /** Marks that lines are drawn with: o200k has tokens for long runs of one of them. Each is a separate kind, since only such runs are cheap. */
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
  /** The first half of a character beyond the basic plane that is not an emoji. */
  astral: 29,
  /** The second half of such a character, or of an emoji. */
  low: 30,
} as const;

/** The kinds of ASCII letters are below. */
const letterKindsEnd = kind.accented;

/** The kind of the code units from each number to the next; the last range ends at U+FFFF. ASCII is below. */
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
  // Vietnamese, whose words are in vocabularies with their accents.
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
function kindsOfCodeUnits(): Uint8Array {
  const all = new Uint8Array(0x1_0000).fill(kind.oddMark, 0, 0x80);
  for (const [characters, one] of ascii) for (const character of characters) all[character.charCodeAt(0)] = one;
  for (const [place, [start, one]] of blocks.entries()) all.fill(one, start, blocks[place + 1]?.[0] ?? all.length);
  return all;
}

const isUpper = (one: number): boolean => one >= kind.upperVowel && one <= kind.upperRareConsonant;
const isRare = (one: number): boolean => one === kind.rareConsonant || one === kind.upperRareConsonant;
const isConsonant = (one: number): boolean => isRare(one) || one === kind.consonant || one === kind.upperConsonant;
const isLatin = (one: number): boolean => one >= kind.vowel && one <= kind.hooked;
const isMark = (one: number): boolean => one >= kind.mark && one <= kind.dot;

// Weights

const kindBits = 5;
const threeKinds = (1 << (3 * kindBits)) - 1;

const unitsPerToken = 60;

/** Few words are longer. A longer run of letters has no spaces between its words, or no words. */
const wordLength = 9;
/** For each letter beyond. */
const unitsBeyondWord = 10;
/** In tokens. With what a long run adds, a letter weighs no more than its byte. */
const letterWeightMax = 1 - unitsBeyondWord / unitsPerToken;

const kinds = kindsOfCodeUnits();
const weights = weightsOfKinds();

/** The estimate of one text, which may come in pieces: where it is cut makes no difference. */
export class TextTokens {
  /** The kinds of the last three characters. */
  #kinds = 0;
  #run = 0;
  #units = 0;

  /** Sums of units can be compared and added, and are rounded once, by `tokensOf`. */
  get units(): number {
    return this.#units;
  }

  add(text: string): void {
    let last = this.#kinds;
    let run = this.#run;
    let units = 0;
    // Every delta and every byte of some prompts comes through here. The signs of differences replace branches, which would take twice the
    // time.
    for (let at = 0; at < text.length; at++) {
      const now = kinds[text.charCodeAt(at)] ?? 0;
      last = ((last << kindBits) | now) & threeKinds;
      run = (run + 1) & ((now - letterKindsEnd) >> 31);
      units += (weights[last] ?? 0) + (((wordLength - run) >> 31) & unitsBeyondWord);
    }
    this.#kinds = last;
    this.#run = run;
    this.#units += units;
  }
}

/** @param units as `TextTokens` counts them */
export function tokensOf(units: number): number {
  return units === 0 ? 0 : Math.max(1, Math.round(units / unitsPerToken));
}

/** @returns at most the UTF-8 bytes of the text */
export function estimateTokens(text: string): number {
  const estimate = new TextTokens();
  estimate.add(text);
  return tokensOf(estimate.units);
}

/** Indexed by the three kinds, the earliest first. */
function weightsOfKinds(): Uint8Array {
  const count = 1 << kindBits;
  return Uint8Array.from({ length: count ** 3 }, (_, at) => {
    const [before, last, now] = [at >> (2 * kindBits), (at >> kindBits) % count, at % count] as const;
    return Math.round(weightOf(before, last, now) * unitsPerToken);
  });
}

/** In tokens. At most the character's bytes, and those of a space before it that weighed nothing. */
function weightOf(before: number, last: number, now: number): number {
  if (isLatin(now)) return latinWeight(before, last, now);
  if (isMark(now)) return markWeight(before, last, now);
  switch (now) {
    case kind.digit:
      // The space before a number is a separate token.
      if (last === kind.space) return before === kind.none ? 1 : 2;
      if (last !== kind.digit) return 1;
      return before === kind.digit ? 1 / 3 : 0;
    case kind.space:
      // A single space belongs to the next word, and further ones make one token. At the start of the text, the first one is that token.
      if (last === kind.none) return 1;
      if (last !== kind.space || before === kind.none) return 0;
      return before === kind.space ? 1 / 60 : 0.5;
    case kind.newline:
      if (last === kind.newline) return 0.1;
      return isMark(last) ? 0.6 : 1;
    case kind.letter:
      return last === kind.letter ? 0.2 : 0.9;
    case kind.lessKnown:
      return last === kind.lessKnown ? 0.4 : 0.7;
    case kind.syllable:
      return 0.8;
    case kind.wideMark:
      return 0.75;
    case kind.symbol:
      return 1.75;
    case kind.box:
      return 0.75;
    case kind.emoji:
      return 1;
    case kind.low:
      return last === kind.emoji ? 1.35 : 2;
    case kind.halfKnown:
    case kind.astral:
      return 2;
    default:
      return 3;
  }
}

function latinWeight(before: number, last: number, now: number): number {
  const accent = now === kind.hooked ? 1 : now === kind.accented ? 0.3 : 0;
  // Many words are in a vocabulary together with the mark before them.
  if (!isLatin(last)) return accent + (isMark(last) ? 0.3 : accent > 0 ? 0.65 : 1);
  // Words in camel case are several.
  if (isUpper(now) && !isUpper(last)) return letterWeightMax;
  const inRun = isUpper(now) ? 0.13 : 1 / 30;
  // Hardly any word has three consonants in a row: these are names, abbreviations, and data written in letters.
  const isCluster = isConsonant(before) && isConsonant(last) && isConsonant(now) && (isUpper(before) || !isUpper(last));
  return Math.min(letterWeightMax, inRun + (isCluster ? (isUpper(now) ? 0.75 : 0.9) : 0) + (isRare(now) ? 0.7 : 0)) + accent;
}

function markWeight(before: number, last: number, now: number): number {
  if (last === kind.digit) return 1;
  const isPlain = now !== kind.oddMark;
  if (isMark(last)) {
    if (last === now && before === now && now >= kind.hyphen) return 0.05;
    return isPlain ? 0.45 : 0.85;
  }
  if (last === kind.space) return isPlain ? 0.4 : 0.9;
  return isPlain ? 0.65 : 1;
}
