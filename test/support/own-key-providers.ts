/** Providers with models for the control API in this process, which refuse a key with the word `bad`, and do not answer one with `late`. */
import { availabilityOf } from "../../src/gateway/models/availability.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { UpstreamFailure } from "../../src/gateway/providers/provider.ts";
import type { ControlParts } from "../../src/control-api/parts.ts";
import { aModel } from "./providers/models.ts";

const usage = { promptTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 1, reasoningTokens: 0 };
const message = { role: "assistant" as const, content: "Yes", refusal: null };

/** `alpha` keeps what it is sent, `beta` keeps nothing. Both models have passed their launch checks. */
export function addProviders(parts: ControlParts): void {
  const models = ["alpha", "beta"].map((id) => {
    const routes = [{ provider: id, upstream_model: "m", prices_per_1m_usd: { input: "1.00", output: "2.00" } }];
    return aModel({ id: `stub/${id}`, name: `Model ${id}`, routes }, { name: id, zero_data_retention: id === "beta" });
  });
  const checks = new Map(models.flatMap(({ routes }) => routes.map(({ entry }) => [entry, { passed: true }] as const)));
  const providers = new Map(models.flatMap(({ routes }) => routes.map(({ provider }) => [provider.id, provider] as const)));
  parts.models = {
    ...parts.models,
    catalog: () => ({ version: "test", models: new Map(models.map((model) => [model.id, model])), providers }),
    list: () => models,
    availability: (model, demands) => availabilityOf(model, { ...demands, providerKey: () => "key", checks }),
    serviceKey: () => new Secret("sk-of-the-service"),
  };
  parts.fetchProviders = async ({ headers }) => {
    const { authorization } = headers;
    const isKnown = authorization !== undefined && !authorization.includes("bad");
    return { status: isKnown ? 200 : 401, headers: {}, body: Buffer.from("{}") };
  };
  parts.callWith = (key) => async () => {
    if (key.reveal().includes("late")) throw new UpstreamFailure("upstream_timeout", "The test does not answer");
    if (key.reveal().includes("bad")) throw new UpstreamFailure("upstream_auth", "The test refuses the key");
    return { kind: "whole", answer: { message, finishReason: "stop", logprobs: null, usage } };
  };
}
