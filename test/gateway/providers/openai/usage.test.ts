import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { UsageTally } from "../../../../src/gateway/providers/openai/answer.ts";
import type { ReportedUsage } from "../../../../src/gateway/models/model.ts";

function told(...values: unknown[]): ReportedUsage | null {
  const tally = new UsageTally();
  for (const value of values) tally.take(value);
  return tally.usage();
}

const plain = { promptTokens: 10, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 5, reasoningTokens: 0 };
const usual = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** What the recorded answers in test/fixtures/openai do not have. */
describe("usage", () => {
  const shapes: [string, unknown[], Partial<ReportedUsage> | null][] = [
    ["never", [null, undefined, "none", 7, []], null],
    ["twice the same", [usual, usual], plain],
    ["in two parts", [{ prompt_tokens: 10 }, { completion_tokens: 5, total_tokens: 15 }], plain],
    ["only prompt and total", [{ prompt_tokens: 10, total_tokens: 15 }], plain],
    ["only completion and total", [{ completion_tokens: 5, total_tokens: 15 }], plain],
    [
      "a prompt and nothing answered",
      [{ prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 }],
      { ...plain, completionTokens: 0 },
    ],
    [
      "reasoning within the completion",
      [{ ...usual, completion_tokens_details: { reasoning_tokens: 3 } }],
      { ...plain, reasoningTokens: 3 },
    ],
    ["reasoning as SGLang tells it", [{ ...usual, reasoning_tokens: 3 }], { ...plain, reasoningTokens: 3 }],
    [
      "cached tokens within the prompt",
      [{ ...usual, prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 2 } }],
      { ...plain, cachedTokens: 8, cacheWriteTokens: 2 },
    ],
    ["cached tokens as DeepSeek tells them", [{ ...usual, prompt_cache_hit_tokens: 6 }], { ...plain, cachedTokens: 6 }],
    [
      "more cached than there was of a prompt",
      [{ ...usual, prompt_tokens_details: { cached_tokens: 99, cache_write_tokens: 99 } }],
      { ...plain, cachedTokens: 10, cacheWriteTokens: 0 },
    ],
    ["a prompt alone", [{ prompt_tokens: 10 }], { ...plain, completionTokens: null }],
    ["a completion alone", [{ completion_tokens: 5 }], { ...plain, promptTokens: null }],
    [
      "a completion of zero, which is no count where anything was delivered",
      [{ prompt_tokens: 10, completion_tokens: 0 }],
      { ...plain, completionTokens: 0 },
    ],
    [
      "a total that its parts do not explain",
      [{ ...usual, total_tokens: 2_000_000 }],
      { ...plain, unexplainedTokens: 1_999_985 },
    ],
    [
      "a total beside zeros, which is not the count of both",
      [{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 100 }],
      { promptTokens: 0, completionTokens: 0, unexplainedTokens: 100 },
    ],
    ["a total that is too small", [{ ...usual, total_tokens: 1 }], plain],
    ["counts that are none", [{ prompt_tokens: -3, completion_tokens: 1.5, total_tokens: "15" }], null],
    ["numbers that nobody can count to", [{ ...usual, completion_tokens: 1e300 }], plain],
  ];
  test.each(shapes)("%s", (_, values, usage) => {
    if (usage === null) expect(told(...values)).toBeNull();
    else expect(told(...values)).toMatchObject(usage);
  });

  const count = fc.option(fc.nat(1_000_000), { nil: undefined });
  const object = fc.record({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: fc.record({ cached_tokens: count, cache_write_tokens: count }),
    completion_tokens_details: fc.record({ reasoning_tokens: count }),
  });

  test("always has parts that do not exceed their wholes", () => {
    fc.assert(
      fc.property(fc.array(object, { maxLength: 5 }), (objects) => {
        const usage = told(...objects);
        if (usage === null) return;
        expect(usage.cachedTokens + usage.cacheWriteTokens).toBeLessThanOrEqual(usage.promptTokens ?? 0);
        expect(usage.reasoningTokens).toBeLessThanOrEqual(usage.completionTokens ?? 0);
      }),
    );
  });

  const sumOf = (usage: ReportedUsage | null): number =>
    (usage?.promptTokens ?? 0) + (usage?.completionTokens ?? 0) + (usage?.unexplainedTokens ?? 0);

  test("never decreases with further reports and never adds them up", () => {
    fc.assert(
      fc.property(object, fc.array(object, { maxLength: 4 }), (one, more) => {
        expect(told(one, one, one)).toEqual(told(one));
        const tokens = (usage: ReportedUsage | null) => sumOf(usage);
        expect(tokens(told(one, ...more))).toBeGreaterThanOrEqual(tokens(told(one)));
      }),
    );
  });
});
