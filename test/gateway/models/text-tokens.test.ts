/** The estimate of tokens, compared with what o200k counts for texts of many kinds. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { AnswerTokens } from "../../../src/gateway/models/chat-tokens.ts";
import { estimateTokens } from "../../../src/gateway/models/text-tokens.ts";
import { threadMs } from "../../support/processes/thread-time.ts";
import { countedText, textsOf } from "./texts.ts";

/** Kinds that may be estimated higher: o200k has long pieces for some words of rare scripts, and for runs of one character. */
const mayBeHigher = new Set(["Tamil", "Tibetan", "repeated mark", "repeated letter"]);

describe.each([1, 2] as const)("the estimate for texts of seed %d is within 25 % of o200k, and never below 80 %:", (seed) => {
  test.each(Object.keys(textsOf(seed)))("%s", (kind) => {
    const { text, tokens } = countedText(seed, kind);
    const ratio = estimateTokens(text) / tokens;
    expect(ratio).toBeGreaterThanOrEqual(0.8);
    if (!mayBeHigher.has(kind)) expect(ratio).toBeLessThanOrEqual(1.25);
  });
});

const someText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme-ascii", maxLength: 200 }),
  fc.stringMatching(/^[ 0-9a-zA-Z.,\-=\n]{0,200}$/),
  fc.stringMatching(/^[xXbBzZ]{0,200}$/),
  fc.string({ minLength: 1, maxLength: 2, unit: "binary" }).map((pattern) => pattern.repeat(60)),
  fc.constantFrom(...Object.values(textsOf(1)).map((text) => text.slice(0, 300))),
);

test("the estimate never exceeds the bytes of the text, which are what is reserved", () => {
  fc.assert(
    fc.property(someText, (text) => {
      expect(estimateTokens(text)).toBeLessThanOrEqual(Buffer.byteLength(text));
    }),
    { examples: [["  0"]] },
  );
});

test("every text has at least one token", () => {
  expect(estimateTokens("")).toBe(0);
  fc.assert(
    fc.property(someText, (text) => {
      if (text !== "") expect(estimateTokens(text)).toBeGreaterThanOrEqual(1);
    }),
  );
});

test("a streamed answer has the same estimate wherever it is cut", () => {
  const pieces = fc.array(someText, { maxLength: 20 });
  fc.assert(
    fc.property(pieces, pieces, (content, reasoning) => {
      const streamed = new AnswerTokens();
      for (let place = 0; place < Math.max(content.length, reasoning.length); place++) {
        streamed.add({ content: content[place] ?? null });
        streamed.add({ reasoning_content: reasoning[place] ?? "" });
      }
      const whole = new AnswerTokens();
      whole.add({ role: "assistant", content: content.join(""), reasoning_content: reasoning.join("") });
      expect(streamed.tokens).toBe(whole.tokens);
    }),
  );
});

test("an answer's content, refusal, reasoning and calls all count", () => {
  const tokensOf = (part: Record<string, unknown>): number => {
    const answer = new AnswerTokens();
    answer.add(part);
    return answer.tokens;
  };
  expect(tokensOf({ role: "assistant", content: "Yes", refusal: "no", reasoning_content: "look" })).toBe(
    tokensOf({ content: "Yes no look" }),
  );
  const calls = [
    { index: 0, id: "call_1", type: "function", function: { name: "look", arguments: "(123)" } },
    { index: 1, custom: { name: "(go)", input: "456" } },
  ];
  expect(tokensOf({ tool_calls: calls })).toBe(tokensOf({ content: "look(123)(go)456" }));
  expect(tokensOf({ function_call: { name: "look", arguments: "(1)" } })).toBe(tokensOf({ content: "look(1)" }));
  expect(tokensOf({ content: null, tool_calls: "none" })).toBe(0);
});

test("what a provider has counted is not estimated again", () => {
  const answer = new AnswerTokens();
  answer.add({ content: "one two three" });
  answer.markCounted();
  expect(answer.uncountedTokens).toBe(0);
  answer.add({ content: " four" });
  expect(answer.uncountedTokens).toBeWithin(1, 3);
  expect(answer.tokens).toBeGreaterThan(answer.uncountedTokens);
});

test("8 MiB are estimated without delaying other requests", () => {
  const text = "é word 12\n".repeat((8 * 1024 * 1024) / 11);
  expect(threadMs(() => void estimateTokens(text), 250)).toBeLessThan(250);
});
