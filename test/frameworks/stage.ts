/** Starts the service for the loops: in one process with the scripted model behind each wire format, and as a fleet. */
import { Fleet } from "../support/servers/fleet.ts";
import { testServices } from "../support/servers/services.ts";
import { startProviderStub } from "../support/providers/provider-stub.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { scripted } from "./scripted-model.ts";

export interface Stage extends AsyncDisposable {
  /** A model behind each format. */
  models: StageModel[];
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
  const stubs = await Promise.all(
    Object.entries(scripted).map(async ([format, answer]) => ({ format, stub: stack.use(await startProviderStub(answer)) })),
  );
  const folder = stack.use(await temporaryFolder());
  const catalogDir = await writeCatalog(folder.path, {
    // The registry's names are the catalog's names of formats.
    providers: stubs.map(({ format, stub }) =>
      stubProvider({ id: format, name: format, format: format as "openai", base_url: stub.url }),
    ),
    models: Object.fromEntries(stubs.map(({ format }) => [format, [stubModel({ id: `${format}/model`, supports: supported })]])),
  });
  const plan = { catalogDir, environment: { [stubKeyEnv]: "sk-of-the-stub" } };
  const alone = stack.use(await Fleet.start({ ...plan, services: null }));
  const place = await placeIn(alone);
  const models = stubs.map(({ format, stub }) => {
    return { ...place, name: format, model: `${format}/model`, calls: () => stub.calls.length };
  });
  for (const { model } of models) await alone.runnable(model);
  const sandboxes = [sandboxAt("one process", place)];
  const services = await testServices();
  if (services !== null) {
    const fleet = stack.use(await Fleet.start({ ...plan, services: services.urls, workers: 1 }));
    sandboxes.push(sandboxAt("a fleet", await placeIn(fleet)));
  }
  const kept = stack.move();
  return { models, sandboxes, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

const supported = ["tools", "json_schema", "thought_signatures"];

async function placeIn(fleet: Fleet): Promise<Pick<StageModel, "url" | "key">> {
  const { keys } = await fleet.operator().customer({ credit: "10", earlyAccess: ["embeddings", "completions"] });
  return { url: `${fleet.url()}/gpt/v1`, key: keys[0]?.key ?? "" };
}

function sandboxAt(name: string, place: Pick<StageModel, "url" | "key">): StageModel {
  return { ...place, name, model: "sandbox/echo", calls: () => 0 };
}
