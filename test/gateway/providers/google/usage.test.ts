import { expect, test } from "bun:test";
import fc from "fast-check";
import { GoogleUsage } from "../../../../src/gateway/providers/google/answer.ts";
import type { ReportedUsage } from "../../../../src/gateway/models/model.ts";

function told(...values: unknown[]): ReportedUsage | null {
  const usage = new GoogleUsage();
  for (const value of values) usage.take(value);
  return usage.usage();
}

const count = fc.option(fc.nat(1_000_000), { nil: undefined });
const object = fc.record({
  promptTokenCount: count,
  cachedContentTokenCount: count,
  toolUsePromptTokenCount: count,
  candidatesTokenCount: count,
  thoughtsTokenCount: count,
  totalTokenCount: count,
});
/** As the API defines its total. */
const consistent = fc
  .record({ prompt: fc.integer({ min: 1, max: 1e6 }), toolUse: fc.nat(1e5), candidates: fc.nat(1e5), thoughts: fc.nat(1e5) })
  .map(({ prompt, toolUse, candidates, thoughts }) => ({
    promptTokenCount: prompt,
    toolUsePromptTokenCount: toolUse,
    candidatesTokenCount: candidates,
    thoughtsTokenCount: thoughts,
    totalTokenCount: prompt + toolUse + candidates + thoughts,
  }));

test("prompt and completion add up to the provider's total", () => {
  fc.assert(
    fc.property(consistent, (metadata) => {
      const usage = told(metadata);
      expect((usage?.promptTokens ?? 0) + (usage?.completionTokens ?? 0)).toBe(metadata.totalTokenCount);
      expect(usage?.reasoningTokens).toBe(metadata.thoughtsTokenCount);
    }),
  );
});

test("parts never exceed their wholes, whatever the provider reports", () => {
  fc.assert(
    fc.property(fc.array(object, { maxLength: 5 }), (objects) => {
      const usage = told(...objects);
      if (usage === null) return;
      expect(usage.cachedTokens + usage.cacheWriteTokens).toBeLessThanOrEqual(usage.promptTokens ?? 0);
      expect(usage.reasoningTokens).toBeLessThanOrEqual(usage.completionTokens ?? 0);
    }),
  );
});

test("the last reported count is valid: nothing is added up, and zeros or missing counts do not reset it", () => {
  fc.assert(
    fc.property(object, consistent, (before, metadata) => {
      expect(told(metadata, metadata)).toEqual(told(metadata));
      expect(told(metadata, {}, null, { promptTokenCount: 0, candidatesTokenCount: 0 })).toEqual(told(metadata));
      const { promptTokens, completionTokens } = told(before, { ...metadata, cachedContentTokenCount: 1 }) ?? {};
      if (metadata.toolUsePromptTokenCount * metadata.candidatesTokenCount * metadata.thoughtsTokenCount === 0) return;
      expect((promptTokens ?? 0) + (completionTokens ?? 0)).toBe(metadata.totalTokenCount);
    }),
  );
});

test("returns whether a report contained a new count", () => {
  const usage = new GoogleUsage();
  expect(
    [{ promptTokenCount: 9 }, { promptTokenCount: 9 }, { candidatesTokenCount: 0 }, {}].map((one) => usage.take(one)),
  ).toEqual([true, false, false, false]);
});
