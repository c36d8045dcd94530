/** `sandbox/echo` and `sandbox/embed`: the models of the in-process provider, as entries of the catalog files. */
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

const echo: ModelEntry = {
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
  supports: ["tools", "json_object", "json_schema", "reasoning", "verbosity", "penalties", "seed", "logit_bias", "prediction"],
  reasons: false,
  released: "2026-11-20",
};

/** Its vectors are made from a hash of the text. */
const embed: ModelEntry = {
  id: "sandbox/embed",
  name: "Sandbox embed",
  kind: "embeddings",
  upstream_model: "embed",
  context_length: 8_192,
  max_output_tokens: null,
  prices_per_1m_usd: { input: "1.00", output: "0" },
  listed_as: "available",
  published: true,
  supports: ["token_input", "input_type"],
  dimensions: { default: 64, allowed: { min: 8, max: 64 } },
  max_inputs: 2_048,
  released: "2026-11-24",
};

export const sandboxModels: readonly ModelEntry[] = [echo, embed];
