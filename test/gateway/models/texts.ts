/**
 * Texts of many kinds, made from a seed. Half of the sentences and words belong to each seed, so that the second seed has none of the texts
 * that the weights were fitted to. `test/fixtures/o200k/counts.json` has what o200k counts for them. In a folder with
 * `npm install gpt-tokenizer@4.0.0`, this writes it again:
 *
 *     import { encode } from "gpt-tokenizer/encoding/o200k_base";
 *     const count = (text) => ({ digest: digestOf(text), tokens: encode(text).length });
 *     const all = [1, 2].map((seed) => Object.entries(textsOf(seed)).map(([kind, text]) => [kind, count(text)]));
 *     await Bun.write("counts.json", JSON.stringify(all.map(Object.fromEntries), null, 2));
 */
import { createHash } from "node:crypto";
import counts from "../../fixtures/o200k/counts.json";
import sentences from "../../fixtures/o200k/sentences.json";

/** A generator by George Marsaglia (xorshift32): the same numbers everywhere. */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761) >>> 0 || 1;
    for (let skip = 0; skip < 16; skip++) this.below(2);
  }

  below(end: number): number {
    this.#state ^= this.#state << 13;
    this.#state >>>= 0;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    this.#state >>>= 0;
    return this.#state % end;
  }

  pick(items: readonly string[]): string {
    return items[this.below(items.length)] ?? "";
  }

  of(characters: string, length: number): string {
    const all = Array.from(characters);
    return Array.from({ length }, () => this.pick(all)).join("");
  }
}

const digits = "0123456789";
const lower = "abcdefghijklmnopqrstuvwxyz";
const upper = lower.toUpperCase();
const hex = "0123456789abcdef";
const marks = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
const emoji =
  "😀😂🥰😎🤔😭👍🙏🎉🔥🚀💡📈📉🐍🦀🌍🌧🍞🧀☕🎵🏠🚂🧪🧵🪐🦊🐝🌻🍋🍉🥕🧄🏔🏖🛠🔑🔒📦🧭🎲🎯🎨🩺🧲🪙💶📚🖋🕰🛰🛎🛒🧺🧯🪜🚲🛶⛵🚦🌈❄🌊";

const words = [
  "account amount balance charge client count credit customer event format gateway header invoice key limit message model order price queue",
  "address answer archive batch branch cache circle column detail error filter folder ground handler index journal label memory network option",
] as const;

const numberOf = (random: Random): string => (random.below(1_000_000) / 10 ** random.below(5)).toString();
const lines = (count: number, line: (place: number) => string): string =>
  Array.from({ length: count }, (_, place) => line(place)).join("\n");
const camel = (first: string, second: string): string => first + (second[0] ?? "").toUpperCase() + second.slice(1);

function javascript(word: () => string, random: Random): string {
  return lines(14, () => {
    const [one, two, three] = [word(), word(), word()];
    return `/** Reads the ${one} of a ${two}, in milliseconds. */
export async function ${camel(one, two)}(${three}: string, options = {}) {
  const ${two}s = await this.#${one}.find({ ${three}, limit: ${random.below(500)} });
  for (const ${two} of ${two}s) {
    if (${two}.${one}Count >= ${random.below(90)}) return null;
    this.${camel(three, one)}.push(\`\${${two}.id}:\${${three}}\`);
  }
  return ${two}s.map(({ ${one} }) => ${one} ?? "${three}");
}`;
  });
}

function python(word: () => string, random: Random): string {
  return lines(14, () => {
    const [one, two, three] = [word(), word(), word()];
    return `def ${one}_${two}(self, ${three}: int = ${random.below(100)}) -> dict[str, float]:
    """Return the ${one} of every ${two}."""
    ${two}s = [x for x in self.${three}s if x["${one}"] is not None]
    if not ${two}s:
        raise ValueError(f"no ${two} has a ${one}: {${three}!r}")
    total = sum(x.${one} * ${random.below(90)}.${random.below(99)} for x in ${two}s)
    return {"${one}": total / len(${two}s), "${three}_max": max(${two}s, key=lambda x: x.${three})}
`;
  });
}

function json(word: () => string, random: Random): string {
  return JSON.stringify(
    Array.from({ length: 22 }, () => ({
      [word()]: `${word()} ${word()}`,
      [`${word()}_id`]: random.below(10_000),
      active: random.below(2) === 1,
      [word()]: { [word()]: [word(), word()], note: null },
    })),
  );
}

const uuid = (random: Random): string => [8, 4, 4, 4, 12].map((length) => random.of(hex, length)).join("-");

/** @returns texts of a few thousand characters by the name of their kind */
export function textsOf(seed: 1 | 2): Record<string, string> {
  const random = new Random(seed);
  const known = (words[seed - 1] ?? "").split(" ");
  const word = (): string => random.pick(known);
  const prose = Object.fromEntries(
    Object.entries(sentences).map(([language, all]) => [language, all.filter((_, place) => place % 2 === seed - 1).join(" ")]),
  );
  return {
    ...prose,
    JavaScript: javascript(word, random),
    Python: python(word, random),
    JSON: json(word, random),
    "JSON of numbers": JSON.stringify(
      Array.from({ length: 40 }, () => Array.from({ length: 8 }, () => Number(numberOf(random)))),
    ),
    "numeric CSV": lines(80, () => Array.from({ length: 8 }, () => numberOf(random)).join(",")),
    "small numbers": lines(80, () => Array.from({ length: 12 }, () => random.below(100)).join(" ")),
    digits: random.of(digits, 3_000),
    base64: random.of(`${upper}${lower}${digits}+/`, 3_000),
    base32: random.of(`${upper}234567`, 3_000),
    hex: random.of(hex, 3_000),
    HEX: random.of(hex.toUpperCase(), 3_000),
    UUIDs: lines(70, () => uuid(random)),
    "hex dump": lines(60, () => Array.from({ length: 16 }, () => random.of(hex, 2)).join(" ")),
    punctuation: random.of(marks, 2_000),
    emoji: random.of(emoji, 500),
    "random letters": random.of(lower, 3_000),
    "random words": Array.from({ length: 500 }, () => random.of(lower, 3 + random.below(7))).join(" "),
    "RANDOM LETTERS": random.of(upper, 2_000),
    DNA: random.of("ACGT", 3_000),
    "CAPITAL PROSE": (prose["English"] ?? "").toUpperCase(),
    spaceless: (prose["English"] ?? "").toLowerCase().replaceAll(/[^a-z]/g, ""),
    SPACELESS: (prose["English"] ?? "").toUpperCase().replaceAll(/[^A-Z]/g, ""),
    log: lines(
      40,
      () =>
        `2026-0${1 + random.below(9)}-1${random.below(10)}T0${random.below(10)}:${10 + random.below(50)}:${10 + random.below(50)}.${100 + random.below(900)}Z ${random.pick(["INFO", "WARN", "ERROR"])} [${word()}-${random.below(30)}] ${word()}=${random.below(5_000)} ${word()}="${word()} ${word()}" took ${random.below(900)}ms`,
    ),
    URLs: lines(
      40,
      () =>
        `https://www.${word()}-${word()}.example.com/${word()}/${random.below(99_999)}?${word()}=${word()}&page=${random.below(50)}#${word()}`,
    ),
    Markdown: lines(
      30,
      () => `| ${word()} | \`${word()}_${word()}\` | **${random.below(100)} %** | [${word()}](../${word()}.md) |`,
    ),
    spaces: lines(60, () => `${" ".repeat(random.below(60))}${word()}`),
    mathematics: lines(
      40,
      () =>
        `\\frac{${random.of(lower, 1)}_{${random.below(9)}}}{\\sqrt{${random.of(lower, 1)}^2 + \\${random.pick(["alpha", "beta", "gamma"])}}} \\le \\sum_{i=1}^{n} ${random.of(lower, 1)}_i`,
    ),
    coordinates: lines(
      80,
      () => `${random.below(180) - 90}.${random.of(digits, 6)}, ${random.below(360) - 180}.${random.of(digits, 6)}`,
    ),
    "chess moves": lines(
      60,
      (place) =>
        `${place + 1}. ${random.of("NBRQK", 1)}${random.of("abcdefgh", 1)}${1 + random.below(8)} ${random.of("NBRQK", 1)}x${random.of("abcdefgh", 1)}${1 + random.below(8)}+`,
    ),
    "repeated mark": "=".repeat(1_000),
    "repeated letter": "a".repeat(1_000),
  };
}

/** A text with o200k's count of it. @throws Error if the text is not the one that was counted */
export function countedText(seed: 1 | 2, kind: string): { text: string; tokens: number } {
  const text = textsOf(seed)[kind];
  const counted = Object.entries(counts[seed - 1] ?? {}).find(([name]) => name === kind)?.[1];
  if (text === undefined || counted?.digest !== digestOf(text)) throw new Error(`${kind} has to be counted anew`);
  return { text, tokens: counted.tokens };
}

/** Shows whether a text is still the one that was counted. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
