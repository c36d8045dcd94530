/** Whatever a provider counts for an embeddings request, the charge is within the reservation. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { chargedEmbedding } from "../../../src/gateway/api/call/charged-usage.ts";
import { inputTokensBoundOf, inputTokensEstimateOf } from "../../../src/gateway/api/request/embedding.ts";
import { chargeOf } from "../../../src/gateway/metering/settle.ts";
import { maximumCost } from "../../../src/gateway/models/price.ts";
import { inputCount, type EmbeddingInputs } from "../../../src/gateway/providers/embedding.ts";
import { embeddingModel } from "../../support/providers/embedding-answers.ts";
import { aModel } from "../../support/providers/models.ts";
import { settlement } from "../../support/gateway/settlements.ts";

const texts = fc.array(fc.string({ minLength: 1, maxLength: 400, unit: "grapheme" }), { minLength: 1, maxLength: 8 });
const tokens = fc.array(fc.array(fc.nat(), { minLength: 1, maxLength: 50 }), { minLength: 1, maxLength: 8 });
const anyInputs: fc.Arbitrary<EmbeddingInputs> = fc.oneof(
  texts.map((all) => ({ kind: "texts" as const, texts: all })),
  tokens.map((all) => ({ kind: "tokens" as const, tokens: all })),
);
const anyPrice = fc
  .integer({ min: 0, max: 9_999_999 })
  .map((price) => `${Math.floor(price / 1_000)}.${String(price % 1_000).padStart(3, "0")}`);
const anyCount = fc.option(fc.oneof(fc.nat({ max: 2_000 }), fc.maxSafeNat()), { nil: null });

test("a reservation bounds the charge, and a plausible count within it is charged to the token", () => {
  fc.assert(
    fc.property(anyInputs, anyPrice, fc.integer({ min: 1, max: 600 }), anyCount, (inputs, price, context, reported) => {
      const model = aModel(embeddingModel({ context_length: context, prices_per_1m_usd: { input: price, output: "0" } }));
      const bound = inputTokensBoundOf(inputs, context);
      const estimate = (): number => inputTokensEstimateOf(inputs, context);
      const { amount, maxOutputTokens } = maximumCost({
        model,
        routes: model.routes,
        inputTokens: bound,
        tools: false,
        maxTokens: null,
      });
      const tokensMax = inputCount(inputs) * context;
      const { usage, estimated } = chargedEmbedding(reported, { estimate, tokensMax });
      const input = model.routes[0]?.prices?.input ?? 0n;
      const prices = { input: String(input), output: "0", cacheRead: String(input), cacheWrite: String(input) };
      const { cost, costPico, excess } = chargeOf(
        settlement({ workspace: "w", key: "k", prices, usage, reserved: String(amount) }),
      );
      expect(maxOutputTokens).toBe(0);
      expect(cost).toBeLessThanOrEqual(amount);
      expect(usage.promptTokens).toBeLessThanOrEqual(tokensMax);
      // Our own estimate never costs the service anything.
      if (estimated) expect(excess).toBe(0n);
      if (reported !== null && reported > 0 && reported <= bound) expect(costPico).toBe(BigInt(reported) * input);
    }),
  );
});

test("an input alone never costs more than its context, however many inputs there are", () => {
  const model = aModel(embeddingModel({ context_length: 100, prices_per_1m_usd: { input: "1", output: "0" } }));
  const bound = inputTokensBoundOf(
    { kind: "texts", texts: Array.from({ length: 3 }, () => "x".repeat(5_000)) },
    model.contextLength,
  );
  expect(bound).toBe(300);
  expect(maximumCost({ model, routes: model.routes, inputTokens: bound, tools: false, maxTokens: null }).amount).toBe(300_000n);
});

test('["Hello", "World!"] at 0.02 USD reserves 860 nano-USD, and 4 tokens cost 80', () => {
  const model = aModel(embeddingModel({ context_length: 8_191, prices_per_1m_usd: { input: "0.02", output: "0" } }));
  const bound = inputTokensBoundOf({ kind: "texts", texts: ["Hello", "World!"] }, model.contextLength);
  expect(maximumCost({ model, routes: model.routes, inputTokens: bound, tools: false, maxTokens: null }).amount).toBe(860n);
  const prices = { input: "20000", output: "0", cacheRead: "20000", cacheWrite: "20000" };
  const usage = { promptTokens: 4, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  expect(chargeOf(settlement({ workspace: "w", key: "k", prices, usage, reserved: "860" })).cost).toBe(80n);
});
