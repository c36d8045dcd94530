/** Writes catalog folders for CATALOG_DIR. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelEntry, ProviderEntry } from "../../../src/gateway/models/schema.ts";

/** The variable of the stub's key; the service needs any value for it. */
export const stubKeyEnv = "STUB_API_KEY";

export interface CatalogContents {
  providers?: ProviderEntry[];
  /** File name without `.json` → its models. */
  models?: Record<string, ModelEntry[]>;
}

/** Creates the folder with providers.json and models/*.json. @returns the folder */
export async function writeCatalog(folder: string, { providers = [], models = {} }: CatalogContents): Promise<string> {
  await mkdir(join(folder, "models"), { recursive: true });
  for (const [name, entries] of Object.entries(models)) {
    await writeFile(join(folder, "models", `${name}.json`), JSON.stringify(entries, null, 2));
  }
  await writeFile(join(folder, "providers.json"), JSON.stringify(providers, null, 2));
  return folder;
}

interface StubCatalog {
  url: string;
  provider?: Partial<ProviderEntry>;
  model?: Partial<ModelEntry>;
  /** Further models of the provider. */
  others?: ModelEntry[];
}

/** A catalog of one provider (`stub`) and one model (`stub/model`). */
export async function writeStubCatalog(
  folder: string,
  { url, provider = {}, model = {}, others = [] }: StubCatalog,
): Promise<string> {
  return writeCatalog(folder, {
    providers: [stubProvider({ base_url: url, ...provider })],
    models: { stub: [stubModel(model), ...others] },
  });
}

/** A provider that passes every check. */
export function stubProvider(entry: Partial<ProviderEntry> = {}): ProviderEntry {
  return {
    id: "stub",
    name: "Stub",
    format: "openai",
    base_url: "http://127.0.0.1:9/v1",
    key_env: stubKeyEnv,
    cancel_stops_billing: true,
    zero_data_retention: false,
    terms_checked: true,
    subprocessor_listed: true,
    ...entry,
  };
}

/** Input 1.00, output 2.00 USD per 1M tokens, 100,000 tokens of context, at most 1,000 of output. */
export function stubModel(entry: Partial<ModelEntry> = {}): ModelEntry {
  const single = { upstream_model: "stub-model", prices_per_1m_usd: { input: "1.00", output: "2.00" } };
  return {
    id: "stub/model",
    name: "Stub model",
    kind: "chat",
    context_length: 100_000,
    max_output_tokens: 1_000,
    ...(entry.routes ? {} : single),
    listed_as: "available",
    published: true,
    supports: ["tools", "json_schema", "reasoning"],
    // A stub does no hidden reasoning: the calls of disconnected clients are cancelled.
    reasons: false,
    ...entry,
  };
}
