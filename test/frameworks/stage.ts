/** Starts the service in one process, with the scripted model behind each wire format. */
import { Fleet } from "../support/servers/fleet.ts";
import { startProviderStub } from "../support/providers/provider-stub.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { scripted } from "./scripted-model.ts";

export interface Stage extends AsyncDisposable {
  /** The base URL for clients. */
  url: string;
  key: string;
  /** A model behind each format. */
  models: StageModel[];
  /** The model of the loops for embeddings. */
  embedding: StageModel;
}

interface StageModel {
  format: string;
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
  const fleet = stack.use(await Fleet.start({ services: null, catalogDir, environment: { [stubKeyEnv]: "sk-of-the-stub" } }));
  const models = stubs.map(({ format, stub }) => ({ format, model: `${format}/model`, calls: () => stub.calls.length }));
  for (const { model } of models) await fleet.runnable(model);
  const { keys } = await fleet.operator().customer({ credit: "10", earlyAccess: ["embeddings"] });
  const embedding = { format: "sandbox", model: "sandbox/embed", calls: () => 0 };
  const kept = stack.move();
  return {
    url: `${fleet.url()}/gpt/v1`,
    key: keys[0]?.key ?? "",
    models,
    embedding,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

const supported = ["tools", "json_schema", "thought_signatures"];
