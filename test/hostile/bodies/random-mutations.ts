/** Random changes of a body, which may then be valid, or wrong in several ways at once. */
import { Buffer } from "node:buffer";
import { chatFields } from "../../../src/gateway/api/request/chat-fields.ts";
import type { Dice } from "./dice.ts";
import { sent, withField, type Mutation } from "./mutated.ts";
import { validBody } from "./valid-body.ts";
import { weirdValue } from "./weird-value.ts";

const fieldNames: [string, ...string[]] = ["model", "messages", "models", "provider", ...chatFields.map(({ name }) => name)];
const inserted = ["\ufeff", "\u2028", "\0", " ", "\n", '"', "\\", "{", "}", "[", ",", ":", "\u00a0", "😀", "9"] as const;
const mark = "\u0001put here\u0001";

function cut(text: string, dice: Dice): [before: string, after: string] {
  const at = dice.below(text.length + 1);
  return [text.slice(0, at), text.slice(at)];
}

/** Replaces one value, at any depth, with a mark. */
function marked(value: unknown, dice: Dice): unknown {
  if (Array.isArray(value) && value.length > 0 && !dice.oneIn(4)) {
    const index = dice.below(value.length);
    return value.map((one: unknown, at) => (at === index ? marked(one, dice) : one));
  }
  const entries = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
  if (entries.length === 0 || dice.oneIn(4)) return mark;
  const chosen = dice.below(entries.length);
  return Object.fromEntries(entries.map(([name, one], at) => [name, at === chosen ? marked(one, dice) : one]));
}

export const randomMutations: readonly [Mutation, ...Mutation[]] = [
  (body, dice) => sent(withField(body, dice.pick(fieldNames), weirdValue(dice)), null),
  (body, dice) =>
    sent(
      JSON.stringify(marked(body, dice)).replace(JSON.stringify(mark), () => weirdValue(dice)),
      null,
    ),
  (body, dice) => {
    const [before, after] = cut(JSON.stringify(body), dice);
    return sent(before + dice.pick(inserted) + after, null);
  },
  (body, dice) =>
    sent((cut(JSON.stringify(body), dice)[0] + cut(JSON.stringify(validBody(dice)), dice)[1]).slice(0, 10_000), null),
  (body, dice) => {
    const bytes = Buffer.from(JSON.stringify(body));
    for (let flips = 1 + dice.below(4); flips > 0; flips--) bytes[dice.below(bytes.length)] = dice.below(256);
    return sent(bytes, null);
  },
  (body, dice) => sent(`\ufeff${JSON.stringify(body, null, dice.below(5))}`, null),
  (_, dice) => sent(dice.bytes(dice.below(300)), null),
];
