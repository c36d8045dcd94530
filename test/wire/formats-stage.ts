/**
 * One process with a provider of each wire format, for all files that play a format's own answers. It starts at the first use and stops
 * when the test process ends: a start costs more CPU time than most of these files. Each file has models of its own, makes customers of
 * its own, and says what the providers answer.
 */
import type { ModelEntry, ProviderEntry } from "../../src/gateway/models/schema.ts";
import { atEnd } from "../support/processes/at-end.ts";
import { message } from "../support/providers/anthropic-answers.ts";
import { googleChat, googleModel } from "../support/providers/google-answers.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import { openaiResponsesAndChat } from "../support/providers/responses-answers.ts";
import { chat, type StubAnswer } from "../support/providers/stub-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../support/providers/stub-catalog.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

export type FormatProvider = "claude" | "google" | "responses" | "other";

export interface FormatsStage {
  fleet: Fleet;
  stub(provider: FormatProvider): ProviderStub;
}

/** The service's key for every provider, which no answer may contain. */
const ourKey = "AIza-our-own-secret";

/** What each answers at first; `responses` has models of both of OpenAI's formats. */
const providers: Record<FormatProvider, { entry: Pick<ProviderEntry, "format" | "native">; answer: StubAnswer }> = {
  claude: { entry: { format: "anthropic", native: true }, answer: message("Hello") },
  google: { entry: { format: "google" }, answer: googleChat("Hello") },
  responses: { entry: { format: "openai" }, answer: openaiResponsesAndChat("Hello") },
  other: { entry: { format: "openai" }, answer: chat("Hello from the other") },
};
const names = ["claude", "google", "responses", "other"] as const;

let opened: Promise<FormatsStage> | null = null;

export async function formatsStage(): Promise<FormatsStage> {
  const stage = await (opened ??= open());
  for (const name of names) stage.stub(name).answer(providers[name].answer);
  return stage;
}

async function open(): Promise<FormatsStage> {
  const stack = new AsyncDisposableStack();
  atEnd(() => stack.disposeAsync());
  const stubs = new Map<string, ProviderStub>();
  for (const name of names) stubs.set(name, stack.use(await startProviderStub(providers[name].answer)));
  const stub = (provider: FormatProvider): ProviderStub => {
    const found = stubs.get(provider);
    if (!found) throw new Error(`There is no stub of ${provider}`);
    return found;
  };
  const { path } = stack.use(await temporaryFolder());
  const catalogDir = await writeCatalog(path, {
    providers: names.map((id) => stubProvider({ id, ...providers[id].entry, base_url: stub(id).url })),
    models,
  });
  const fleet = stack.use(await Fleet.start({ services: null, inTest: true, catalogDir, environment: { [stubKeyEnv]: ourKey } }));
  await fleet.runnable(
    Object.values(models)
      .flat()
      .map(({ id }) => id),
  );
  return { fleet, stub };
}

const thoughtful = ["tools", "json_schema", "reasoning", "reasoning_content", "thought_signatures"];
const ofClaude = stubModel({
  id: "claude/model",
  prices_per_1m_usd: { input: "3.00", output: "15.00", cache_read: "0.30", cache_write: "3.75" },
  supports: thoughtful,
  reasons: true,
  thinking: "adaptive",
});
const { upstream_model: _, prices_per_1m_usd: claudePrices, ...shared } = ofClaude;
const ofThoughts = {
  supports: ["tools", "reasoning", "reasoning_content", "thought_signatures"],
  reasons: true,
  prices_per_1m_usd: { input: "3.00", output: "15.00" },
  max_output_tokens: 4_000,
};

const models: Record<FormatProvider, ModelEntry[]> = {
  claude: [
    ofClaude,
    {
      ...shared,
      id: "claude/or-other",
      routes: ["claude", "other"].map((provider) => ({
        provider,
        upstream_model: "stub-model",
        prices_per_1m_usd: claudePrices ?? { input: "0", output: "0" },
      })),
    },
    { ...ofClaude, id: "claude/adaptive", upstream_model: "claude-sonnet-4-6", efforts: ["low", "medium", "high", "max"] },
    { ...ofClaude, id: "claude/budget", upstream_model: "claude-haiku-4-5", thinking: "budget" },
    { ...ofClaude, id: "claude/agent", supports: [...thoughtful, "cache_control"] },
    stubModel({ ...ofThoughts, id: "thoughts/adaptive", upstream_model: "claude-opus-5", thinking: "adaptive" }),
    stubModel({ ...ofThoughts, id: "thoughts/budget", upstream_model: "claude-haiku-4-5", thinking: "budget" }),
    stubModel({
      id: "prices/caching",
      prices_per_1m_usd: { input: "3.00", output: "15.00", cache_read: "0.30", cache_write: "3.75" },
      supports: ["tools", "cache_control"],
    }),
    stubModel({
      id: "prices/not-caching",
      prices_per_1m_usd: { input: "3.00", output: "15.00", cache_read: "0.30", cache_write: "3.75" },
    }),
  ],
  google: [
    stubModel({
      id: "google/model",
      upstream_model: googleModel,
      supports: ["tools", "json_schema", "reasoning", "seed", "penalties", "thought_signatures"],
    }),
    stubModel({ ...ofThoughts, id: "thoughts/google", upstream_model: googleModel }),
  ],
  responses: [
    stubModel({
      id: "responses/model",
      upstream_model: "gpt-5.6-sol",
      format: "openai-responses",
      supports: ["tools", "custom_tools", "json_schema", "reasoning", "verbosity", "thought_signatures"],
      reasons: true,
      prices_per_1m_usd: { input: "5.00", output: "30.00", cache_read: "0.50" },
    }),
    stubModel({ id: "responses/older" }),
    stubModel({ ...ofThoughts, id: "thoughts/responses", upstream_model: "gpt-5.6-sol", format: "openai-responses" }),
  ],
  other: [
    stubModel({ id: "other/model", supports: ["tools", "json_schema"] }),
    stubModel({ ...ofThoughts, id: "thoughts/other" }),
    stubModel({
      id: "prices/tiers",
      tiers: [
        { above_input_tokens: 50, input: "2.00", output: "3.00" },
        { above_input_tokens: 90, input: "0.50", output: "0.75" },
      ],
    }),
  ],
};
