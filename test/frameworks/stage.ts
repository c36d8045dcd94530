/** Starts the service for the loops: in one process with the scripted models behind each wire format, and as a fleet. */
import { Fleet } from "../support/servers/fleet.ts";
import { testServices } from "../support/servers/services.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import type { StubAnswer } from "../support/providers/stub-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { scripted } from "./scripted-model.ts";
import { thinking } from "./thinking-model.ts";

export interface Stage extends AsyncDisposable {
  /** A model behind each format. */
  models: StageModel[];
  /** A model behind each format that thinks. */
  thinkers: StageModel[];
  /** The service in each of its modes, whose sandbox embeds and completes. There is no fleet without servers. */
  sandboxes: StageModel[];
}

export interface StageModel {
  /** The base URL for clients. */
  url: string;
  key: string;
  /** The wire format, or the mode of the service. */
  name: string;
  model: string;
  /** How often its provider was called. */
  calls(): number;
}

export async function openStage(): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const behind = (answers: Record<string, StubAnswer>, suffix: string) =>
    Object.entries(answers).map(async ([format, answer]): Promise<Provider> => {
      return { id: `${format}${suffix}`, format, stub: stack.use(await startProviderStub(answer)) };
    });
  const plain = await Promise.all(behind(scripted, ""));
  const thoughtful = await Promise.all(behind(thinking, "-thinking"));
  const folder = stack.use(await temporaryFolder());
  const plan = {
    catalogDir: await writeProviders(folder.path, [...plain, ...thoughtful]),
    environment: { [stubKeyEnv]: "sk-of-the-stub" },
  };
  const alone = stack.use(await Fleet.start({ ...plan, services: null }));
  const place = await placeIn(alone);
  const modelAt = ({ id, format, stub }: Provider): StageModel => {
    return { ...place, name: format, model: modelOf(id), calls: () => stub.calls.length };
  };
  const [models, thinkers] = [plain.map(modelAt), thoughtful.map(modelAt)];
  for (const { model } of [...models, ...thinkers]) await alone.runnable(model);
  const sandboxes = [sandboxAt("one process", place)];
  const services = await testServices();
  if (services !== null) {
    const fleet = stack.use(await Fleet.start({ ...plan, services: services.urls, workers: 1 }));
    sandboxes.push(sandboxAt("a fleet", await placeIn(fleet)));
  }
  const kept = stack.move();
  return { models, thinkers, sandboxes, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

interface Provider {
  id: string;
  format: string;
  stub: ProviderStub;
}

function writeProviders(folder: string, providers: Provider[]): Promise<string> {
  return writeCatalog(folder, {
    // The registry's names are the catalog's names of formats.
    providers: providers.map(({ id, format, stub }) =>
      stubProvider({ id, name: id, format: format as "openai", base_url: stub.url }),
    ),
    models: Object.fromEntries(providers.map(({ id }) => [id, [stubModel({ id: modelOf(id), supports, reasons: true })]])),
  });
}

function modelOf(provider: string): string {
  return `${provider}/model`;
}

const supports = ["tools", "json_schema", "reasoning", "reasoning_content", "thought_signatures"];

async function placeIn(fleet: Fleet): Promise<Pick<StageModel, "url" | "key">> {
  const { keys } = await fleet.operator().customer({ credit: "10", earlyAccess: ["embeddings", "completions"] });
  return { url: `${fleet.url()}/gpt/v1`, key: keys[0]?.key ?? "" };
}

function sandboxAt(name: string, place: Pick<StageModel, "url" | "key">): StageModel {
  return { ...place, name, model: "sandbox/echo", calls: () => 0 };
}
