/** Unusual values as JSON text, since JSON has values that JavaScript cannot represent. */
import type { Dice } from "./dice.ts";

const plain = ["null", "true", "false", "[]", "{}", "[[]]", "[null]", '[{"a":[{}]}]', '{"":""}'] as const;
const numbers = [
  "0",
  "-0",
  "1",
  "-1",
  "0.1",
  "1e2",
  "2.0000001",
  "1e308",
  "1e400",
  "-1e400",
  "1E-400",
  "9007199254740993",
] as const;
const texts = [
  '""',
  '" "',
  '"\\u0000"',
  '"\\u2028"',
  '"1"',
  '"NaN"',
  '"__proto__"',
  '"sandbox"',
  '"\u202e\ufeff"',
  '"😀"',
] as const;

export function weirdValue(dice: Dice): string {
  if (dice.oneIn(20)) return "9".repeat(1 + dice.below(400));
  if (dice.oneIn(20)) return JSON.stringify("x".repeat(dice.below(5_000)));
  return dice.pick<string>([dice.pick(plain), dice.pick(numbers), dice.pick(texts)]);
}

export function nested(dice: Dice, depth: number): string {
  const [open, close] = dice.pick([["[", "]"] as const, ['{"a":', "}"] as const]);
  return `${open.repeat(depth)}0${close.repeat(depth)}`;
}

/** Texts that some parsers accept as JSON. */
export const almostJson = [
  ...(["NaN", "Infinity", "-Infinity", "undefined", "True", "x", "'x'", "", "/**/1"] as const),
  ...(["01", "+1", ".5", "1.", "0x1", "1_000", "--1", "1e", "[1,]", "[1 2]", '{"a":1,}', "{a:1}", "[1}"] as const),
  ...(['"\n"', '"\t"', '"\0"', '"\\x41"', '"\\u12"', '"\\', '"x'] as const),
] as const;
