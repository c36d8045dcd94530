import { expect, test } from "bun:test";
import { chargedUsage, type UsageBounds } from "../../../../src/gateway/api/call/charged-usage.ts";
import { boundsOnceTold } from "../../../../src/gateway/api/call/usage-bounds.ts";

const zeros = { cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const told = (promptTokens: number | null) => ({ ...zeros, promptTokens, completionTokens: null });

test("a prompt that its provider has told before the answer is not estimated, which takes a long one milliseconds", () => {
  const estimate = (): number => {
    throw new Error("The provider has counted the prompt");
  };
  const bounds: UsageBounds = { promptEstimate: estimate, tokensMax: 1_064, maxOutputTokens: 200, reasons: false };
  const once = boundsOnceTold(bounds, told(1_064));
  expect(once.promptEstimate()).toBe(1_064);
  // A later count that cannot be true leaves the one that was told.
  const left = { how: "client_gone", failure: null, final: false, producedTokens: 5, uncountedTokens: 5 } as const;
  const outcome = { ...left, usage: told(5_000), firstTokenMs: 1, heldUpMs: 0, isComplete: false };
  expect(chargedUsage(outcome, once).usage).toMatchObject({ promptTokens: 1_064, completionTokens: 5 });
});

test.each([null, told(null), told(0), told(1_065)])("a prompt that was not told, or cannot be true, is estimated", (reported) => {
  const bounds: UsageBounds = { promptEstimate: () => 25, tokensMax: 1_064, maxOutputTokens: 200, reasons: false };
  expect(boundsOnceTold(bounds, reported).promptEstimate()).toBe(25);
});
