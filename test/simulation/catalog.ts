/** The models of a run. */
import type { ModelsView } from "../../src/gateway/admission/decide.ts";
import { availabilityOf } from "../../src/gateway/models/availability.ts";
import type { Model } from "../../src/gateway/models/model.ts";
import { chatModel } from "../support/providers/model.ts";
import { route } from "../support/providers/routes.ts";

/** No price is a whole number of nano-USD per token, so that a cost which is rounded too early, or twice, becomes visible. */
const prices = { input: 1_037_500n, output: 2_000_300n, cacheRead: 250_700n, cacheWrite: 1_037_500n };
const acme = { ...route("acme", { keyEnv: "ACME_KEY" }), prices, hiddenInputTokens: 64 };
const model = chatModel([], { routes: [acme] });
/** Within the bounds of the workload's prompts: the first tier is the most expensive, and a long prompt is cheaper than a short one. */
const tiers = [
  { aboveInputTokens: 90, input: 1_300_900n, output: 2_300_100n, cacheRead: 300_700n, cacheWrite: 1_400_300n },
  { aboveInputTokens: 210, input: 700_300n, output: 1_900_700n, cacheRead: 150_100n, cacheWrite: 700_300n },
];
/** The provider of this model bills reasoning that it does not deliver, and its prices depend on the length of the prompt. */
const thinker = { ...model, id: "acme/thinker", reasons: true, routes: [{ ...acme, prices: { ...prices, tiers } }] };
/** Only routed requests may be served by it: with a short prompt and a long answer it is the most expensive candidate. */
const otherPrices = { input: 737_100n, output: 3_700_900n, cacheRead: 100_300n, cacheWrite: 737_100n };
const beta = { ...route("beta", { keyEnv: "BETA_KEY" }), prices: otherPrices, hiddenInputTokens: 64 };
const other = chatModel([], { id: "beta/other", routes: [beta] });
const embed: Model = {
  ...model,
  id: "acme/embed",
  kind: "embeddings",
  contextLength: 300,
  maxOutputTokens: 0,
  routes: [{ ...acme, prices: { ...prices, output: 0n } }],
  embeddings: { dimensions: 4, allowedDimensions: null, inputsMax: 16, normalize: false },
};

/** Chat alone: each model has one provider. */
export const chatModels = viewOf([model, thinker, other]);
/** With own keys one model has a second provider, where a call may continue if the workspace allows it. */
export const allModels = viewOf([{ ...model, routes: [acme, beta] }, thinker, other, embed]);

function viewOf(models: readonly Model[]): ModelsView {
  const facts = { providerKey: () => true, checks: { get: () => ({ passed: true }) } as unknown as ReadonlyMap<string, never> };
  return {
    readable: () => true,
    find: (id) => models.find((one) => one.id === id) ?? null,
    usableRoutes: (one, record) => availabilityOf(one, { ...facts, ...record }),
  };
}

/** The providers of a model. */
export function providersOf(id: string): string[] {
  return allModels.find(id)?.routes.map(({ provider }) => provider.id) ?? [];
}
