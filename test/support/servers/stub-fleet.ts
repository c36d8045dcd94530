/**
 * A service in one process, with stubs in place of providers, for files that neither kill nor configure it. The first file that needs it
 * starts it, and the end of the test process stops it: a start costs more CPU time than most of these files. Each file has models of its
 * own or those of `stub`, makes customers of its own, and says what the providers answer.
 */
import { message } from "../providers/anthropic-answers.ts";
import { embeddingModel, embeddings } from "../providers/embedding-answers.ts";
import { googleChat } from "../providers/google-answers.ts";
import { atEnd } from "../processes/at-end.ts";
import { startProviderStub, type ProviderStub } from "../providers/provider-stub.ts";
import { chat, type StubAnswer } from "../providers/stub-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../providers/stub-catalog.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { Fleet } from "./fleet.ts";

/** What each provider answers when the models are checked; `stub` also has models of embeddings. */
const providers = {
  stub: embeddings(),
  forgetting: chat("Hello"),
  keeping: chat("Hello"),
  bounded: chat("Hello"),
  openai: embeddings(),
  anthropic: message("Hello"),
  google: googleChat("Hello"),
} satisfies Record<string, StubAnswer>;
type ProviderName = keyof typeof providers;
const names = ["stub", "forgetting", "keeping", "bounded", "openai", "anthropic", "google"] as const;

interface StubFleet {
  fleet: Fleet;
  /** The provider of `stub/model`. */
  stub: ProviderStub;
  at(name: ProviderName): ProviderStub;
}

/** The context of two models of the provider `bounded`, and what the first of them can write. */
export const boundedContext = 131_072;
export const boundedOutput = 65_536;

let started: Promise<StubFleet> | null = null;

/** Resolves when every model can be called. */
export async function startStubFleet(): Promise<StubFleet> {
  const shared = await (started ??= startShared());
  shared.stub.answer(chat("Hello from the stub"));
  return shared;
}

async function startShared(): Promise<StubFleet> {
  const stack = new AsyncDisposableStack();
  atEnd(() => stack.disposeAsync());
  const stubs = new Map<ProviderName, ProviderStub>();
  for (const name of names) stubs.set(name, stack.use(await startProviderStub(providers[name])));
  const at = (name: ProviderName): ProviderStub => {
    const stub = stubs.get(name);
    if (!stub) throw new Error(`There is no provider ${name}`);
    return stub;
  };
  const { path } = stack.use(await temporaryFolder());
  const formats: Partial<Record<ProviderName, "anthropic" | "google">> = { anthropic: "anthropic", google: "google" };
  const catalogDir = await writeCatalog(path, {
    providers: [
      ...names.map((id) =>
        stubProvider({
          id,
          name: id === "stub" ? "Stub" : id,
          format: formats[id] ?? "openai",
          base_url: at(id).url,
          zero_data_retention: id === "forgetting",
        }),
      ),
      stubProvider({ id: "keyless", name: "Keyless", key_env: "NOBODY_HAS_THIS_KEY" }),
    ],
    models: { ...models, keyless: [stubModel({ id: "keyless/model" })] },
  });
  const fleet = stack.use(
    await Fleet.start({ services: null, inTest: true, catalogDir, environment: { [stubKeyEnv]: "sk-stub" } }),
  );
  await fleet.runnable(
    Object.values(models)
      .flat()
      .map(({ id }) => id),
  );
  return { fleet, stub: at("stub"), at };
}

const prices_per_1m_usd = { input: "1.00", output: "2.00" };
const longInputs = { id: "stub/long", upstream_model: "long", context_length: 8_191, max_inputs: 2_048 };

const models = {
  stub: [
    stubModel(),
    embeddingModel(),
    embeddingModel({ ...longInputs, dimensions: { default: 4, allowed: [4, 256] } }),
    stubModel({
      id: "retention/both",
      routes: ["forgetting", "keeping"].map((provider) => ({ provider, upstream_model: "m", prices_per_1m_usd })),
    }),
  ],
  keeping: [stubModel({ id: "retention/kept" })],
  bounded: [
    stubModel({ id: "bounded/half", context_length: boundedContext, max_output_tokens: boundedOutput }),
    stubModel({ id: "bounded/all", context_length: boundedContext, max_output_tokens: boundedContext }),
    stubModel({ id: "bounded/small", context_length: 40_000, max_output_tokens: 40_000 }),
  ],
  openai: [stubModel({ id: "refusing/openai" }), embeddingModel({ id: "refusing/embed" })],
  anthropic: [stubModel({ id: "refusing/anthropic" })],
  google: [stubModel({ id: "refusing/google" })],
};
