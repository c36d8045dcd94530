/** Routes for tests that depend on the called provider and not on prices. */
import { dialectFrom } from "../../../src/gateway/models/dialect.ts";
import type { ProviderRecord, Route } from "../../../src/gateway/models/model.ts";

export function route(id: string, provider: Partial<ProviderRecord> = {}): Route {
  return {
    provider: {
      id,
      name: id,
      format: "openai",
      baseUrl: "http://127.0.0.1:1/v1",
      keyEnv: null,
      cancelStopsBilling: true,
      streamOptions: true,
      dialect: dialectFrom("openai"),
      zeroDataRetention: false,
      termsChecked: true,
      subprocessorListed: true,
      ...provider,
    },
    format: provider.format ?? "openai",
    upstreamModel: "echo",
    prices: { input: 1_000_000n, output: 2_000_000n, cacheRead: 1_000_000n, cacheWrite: 1_000_000n },
    hiddenInputTokens: null,
    maxTokensField: "max_tokens",
    entry: id,
  };
}
