import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parsePricePerMillion } from "../../../../src/kernel/money.ts";
import { chargedCost } from "../../../../src/gateway/models/price.ts";
import type { ReportedUsage } from "../../../../src/gateway/models/model.ts";
import { noUsage } from "../../../../src/gateway/api/call/charged-usage.ts";
import { AnthropicUsage } from "../../../../src/gateway/providers/anthropic/answer.ts";

function told(...values: unknown[]): ReportedUsage | null {
  const usage = new AnthropicUsage();
  for (const value of values) usage.take(value);
  return usage.usage();
}

const plain = { promptTokens: 10, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 5, reasoningTokens: 0 };

/** What the recorded answers in test/fixtures/anthropic do not have. */
describe("usage", () => {
  test.each<[string, unknown[], Partial<ReportedUsage> | null]>([
    ["never", [null, undefined, "none", 7, []], null],
    [
      "with zeros after the truth",
      [
        { input_tokens: 10, output_tokens: 5 },
        { input_tokens: 0, output_tokens: 0 },
      ],
      plain,
    ],
    [
      "with cache counts that the end does not repeat",
      [
        { input_tokens: 10, cache_read_input_tokens: 1_000, cache_creation_input_tokens: 200 },
        { input_tokens: 10, output_tokens: 5 },
      ],
      { ...plain, promptTokens: 1_210, cachedTokens: 1_000, cacheWriteTokens: 200 },
    ],
    [
      "with a prompt that turns out to come from the cache",
      [{ input_tokens: 10 }, { cache_read_input_tokens: 10, output_tokens: 5 }],
      { ...plain, cachedTokens: 10 },
    ],
    [
      "with a prompt that the end divides",
      [{ input_tokens: 1_010 }, { input_tokens: 10, cache_read_input_tokens: 1_000, output_tokens: 5 }],
      { ...plain, promptTokens: 1_010, cachedTokens: 1_000 },
    ],
    [
      "with what was written told for each lifetime, too",
      [
        {
          input_tokens: 1,
          cache_creation_input_tokens: 9,
          cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 5 },
          output_tokens: 5,
        },
      ],
      { ...plain, cacheWriteTokens: 9 },
    ],
    [
      "with thinking, which is part of the output",
      [{ input_tokens: 10, output_tokens: 5, output_tokens_details: { thinking_tokens: 3 } }],
      { ...plain, reasoningTokens: 3 },
    ],
    [
      "with more thinking than output",
      [{ input_tokens: 10, output_tokens: 5, output_tokens_details: { thinking_tokens: 8 } }],
      { ...plain, reasoningTokens: 5 },
    ],
  ])("%s", (_, values, expected) => {
    expect<unknown>(told(...values)).toEqual(expected);
  });

  test("the output count at the start of a stream is a placeholder, and a failure is not charged for it", () => {
    const usage = new AnthropicUsage();
    usage.takePrompt({ input_tokens: 10, output_tokens: 1 });
    expect(usage.usage()).toEqual({ ...plain, completionTokens: null });
  });
});

const count = fc.nat(1_000_000);

test("every token of the prompt is charged once, at the price of its part", () => {
  const prices = {
    input: parsePricePerMillion("3.00"),
    cacheWrite: parsePricePerMillion("3.75"),
    cacheRead: parsePricePerMillion("0.30"),
    output: parsePricePerMillion("15.00"),
  };
  fc.assert(
    fc.property(count, count, count, fc.nat(1_000_000), (fresh, read, written, output) => {
      const usage = told({
        input_tokens: fresh,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: written,
        output_tokens: output,
      });
      const of = (tokens: number, price: bigint): bigint => BigInt(tokens) * price;
      const owed =
        of(fresh, prices.input) + of(read, prices.cacheRead) + of(written, prices.cacheWrite) + of(output, prices.output);
      const { promptTokens, completionTokens, ...parts } = usage ?? noUsage;
      const counted = { ...parts, promptTokens: promptTokens ?? 0, completionTokens: completionTokens ?? 0 };
      expect(chargedCost(prices, counted)).toBe(owed);
      expect(counted.promptTokens).toBe(fresh + read + written);
    }),
  );
});
