/** `sandbox/echo`: the model of the in-process provider, as entries of the catalog files. */
import type { ModelEntry, ProviderEntry } from "./schema.ts";

export const sandboxProvider: ProviderEntry = {
  id: "sandbox",
  name: "Sandbox",
  format: "sandbox",
  base_url: "http://sandbox.invalid",
  key_env: null,
  cancel_stops_billing: true,
  zero_data_retention: true,
  terms_checked: true,
  subprocessor_listed: true,
};

export const sandboxModel: ModelEntry = {
  id: "sandbox/echo",
  name: "Sandbox echo",
  kind: "chat",
  upstream_model: "echo",
  context_length: 128_000,
  max_output_tokens: 4_096,
  prices_per_1m_usd: { input: "1.00", output: "2.00" },
  listed_as: "available",
  published: true,
  // An echo can honour these fields: it does not sample or reason.
  supports: ["tools", "reasoning", "verbosity", "penalties", "seed", "logit_bias", "prediction"],
  reasons: false,
  released: "2026-11-20",
};
