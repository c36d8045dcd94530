/**
 * Starts the service for the loops: in one process with the scripted models behind each wire format, and as a fleet. The agents' models are
 * in both, with providers of their own, so that what these billed can be compared with the log of each.
 */
import type { ModelEntry } from "../../src/gateway/models/schema.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { testServices } from "../support/servers/services.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import type { StubAnswer } from "../support/providers/stub-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { disagreement } from "./bill.ts";
import { codingModel, type CodingModel } from "./coding-model.ts";
import { scripted } from "./scripted-model.ts";
import { thinking } from "./thinking-model.ts";
import { voices } from "./voices.ts";

export interface Stage extends AsyncDisposable {
  /** A model behind each format. */
  models: StageModel[];
  /** A model behind each format that thinks. */
  thinkers: StageModel[];
  /** The service in each of its modes, whose sandbox embeds and completes. There is no fleet without servers. */
  sandboxes: StageModel[];
  /** A model behind each format that codes, in each mode. */
  coders: StageModel[];
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
  /** Makes workspaces for one loop. Absent: the loops share one. */
  begin?(): Promise<Play>;
}

export interface Play {
  /** The keys of its workspaces. */
  environment: Record<string, string>;
  /** @returns how log and ledger differ from what the provider billed since the play began; null: they agree */
  settle(): Promise<string | null>;
}

export async function openStage(): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const behind = (answers: Record<string, StubAnswer>, suffix: string) =>
    Object.entries(answers).map(async ([format, answer]): Promise<Provider> => {
      return { id: `${format}${suffix}`, format, stub: stack.use(await startProviderStub(answer)) };
    });
  const plain = await Promise.all(behind(scripted, ""));
  const thoughtful = await Promise.all(behind(thinking, "-thinking"));
  const coding = await codersOn(stack);
  const environment = { [stubKeyEnv]: "sk-of-the-stub" };
  const folder = stack.use(await temporaryFolder());
  const catalogDir = await writeProviders(folder.path, [...plain, ...thoughtful, ...coding]);
  const alone = stack.use(await Fleet.start({ catalogDir, environment, services: null }));
  const place = await placeIn(alone);
  const modelAt = ({ id, format, stub }: Provider): StageModel => {
    return { ...place, name: format, model: modelOf(id), calls: () => stub.calls.length };
  };
  const [models, thinkers] = [plain.map(modelAt), thoughtful.map(modelAt)];
  for (const { model } of [...models, ...thinkers]) await alone.runnable(model);
  const sandboxes = [sandboxAt("one process", place)];
  const coders = await codersIn(alone, "one process", { coding, ...place });
  const services = await testServices();
  if (services !== null) {
    const further = await codersOn(stack);
    const catalog = stack.use(await temporaryFolder());
    const fleet = stack.use(
      await Fleet.start({
        catalogDir: await writeProviders(catalog.path, further),
        environment,
        services: services.urls,
        workers: 1,
      }),
    );
    const placeOfFleet = await placeIn(fleet);
    sandboxes.push(sandboxAt("a fleet", placeOfFleet));
    coders.push(...(await codersIn(fleet, "a fleet", { coding: further, ...placeOfFleet })));
  }
  const kept = stack.move();
  return { models, thinkers, sandboxes, coders, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

type Coder = Provider & { coder: CodingModel };

function codersOn(stack: AsyncDisposableStack): Promise<Coder[]> {
  return Promise.all(
    Object.keys(voices).map(async (format): Promise<Coder> => {
      const coder = codingModel(format);
      return { id: `${format}-coding`, format, coder, stub: stack.use(await startProviderStub(coder.answer)) };
    }),
  );
}

/** @returns the models, whose launch checks have passed: those are billed, too, and to no workspace */
async function codersIn(
  fleet: Fleet,
  mode: string,
  { coding, ...place }: { coding: Coder[] } & Pick<StageModel, "url" | "key">,
): Promise<StageModel[]> {
  const models: StageModel[] = [];
  for (const { id, format, stub, coder } of coding) {
    const model = modelOf(id);
    await fleet.runnable(model);
    const calls = () => stub.calls.length;
    models.push({ ...place, name: `${format} in ${mode}`, model, calls, begin: () => begin(fleet, coder) });
  }
  return models;
}

/** A workspace for the task, one whose credit no request can hold, and one that may send a request a minute. */
async function begin(fleet: Fleet, { bills }: CodingModel): Promise<Play> {
  const operator = fleet.operator();
  const plans = { WEIR_KEY: { credit: "10" }, WEIR_POOR_KEY: { credit: "0.000001" }, WEIR_LIMITED_KEY: { credit: "10" } };
  const environment: Record<string, string> = {};
  const credits: Record<string, string> = {};
  for (const [name, plan] of Object.entries(plans)) {
    const limit = name === "WEIR_LIMITED_KEY" ? { requestsPerMinute: 1 } : {};
    const { workspace, keys } = await operator.customer({ ...plan, ...limit });
    environment[name] = keys[0]?.key ?? "";
    credits[workspace] = plan.credit;
  }
  const before = bills.length;
  return { environment, settle: () => disagreement(operator, credits, bills.slice(before)) };
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
    models: Object.fromEntries(providers.map(({ id, format }) => [id, [modelBehind(id, format)]])),
  });
}

/** Agents know some models by the end of their ids, and offer those more tools: here one that patches files. */
function modelOf(provider: string): string {
  return provider.endsWith("-coding") ? `${provider}/gpt-5.5` : `${provider}/model`;
}

function modelBehind(provider: string, format: string): ModelEntry {
  const words = ["tools", "json_schema", "reasoning", "reasoning_content", "thought_signatures"];
  // Only this format has tools that take a text; elsewhere they become functions.
  const supports = format === "openai-responses" ? [...words, "custom_tools"] : words;
  return stubModel({ id: modelOf(provider), supports, reasons: true });
}

async function placeIn(fleet: Fleet): Promise<Pick<StageModel, "url" | "key">> {
  const { keys } = await fleet.operator().customer({ credit: "10", earlyAccess: ["embeddings", "completions"] });
  return { url: `${fleet.url()}/gpt/v1`, key: keys[0]?.key ?? "" };
}

function sandboxAt(name: string, place: Pick<StageModel, "url" | "key">): StageModel {
  return { ...place, name, model: "sandbox/echo", calls: () => 0 };
}
