/**
 * The service in each of its two modes, with a provider stub behind every wire format. It starts once for all files of this folder,
 * at the first use, and stops when the test process ends.
 */
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import OpenAI from "openai";
import { supportWords } from "../../src/gateway/api/request/requested-model.ts";
import { startGithub } from "../security/repositories/github-stub.ts";
import { atEnd } from "../support/processes/at-end.ts";
import { StripeStub } from "../support/stripe/stripe-stub.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { repository } from "../support/processes/process.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import { testServices } from "../support/servers/services.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { first, upstreams } from "./upstreams.ts";

export const modes = ["embedded", "distributed"] as const;
export type Mode = (typeof modes)[number];

const services = await testServices();
/** The modes that this machine can run. */
export const playable = (mode: Mode): boolean => mode === "embedded" || services !== null;

/** How long before a stream that its provider does not begin becomes upstream_timeout here. */
export const firstByteMs = 2_000;

export interface Stage {
  fleet: Fleet;
  /** Where cards are charged. */
  stripe: StripeStub;
  /** The stubs by the name of the format. */
  stub(format: string): ProviderStub;
  /** The official package with only address and key changed. */
  client(apiKey: string, options?: ConstructorParameters<typeof OpenAI>[0]): OpenAI;
}

/** The files of the real connector catalog. */
const connectorFiles = ["categories.json", "grant-notes.json", "oauth-apps.json", "connectors"];

/** The address of the only repository that can be imported. */
export const gemfileLock = "GEM\n  remote: https://rubygems.org/\n  specs:\n    rack (3.0.8)\n\nDEPENDENCIES\n  rack\n";

const stages = new Map<Mode, Promise<Stage>>();

export function stage(mode: Mode): Promise<Stage> {
  const opened = stages.get(mode) ?? openStage(mode);
  stages.set(mode, opened);
  return opened;
}

/** The model of a format's stub. */
export function modelOf(format: string): string {
  return `${format}/model`;
}

async function openStage(mode: Mode): Promise<Stage> {
  const stack = new AsyncDisposableStack();
  atEnd(() => stack.disposeAsync());
  const stubs = new Map<string, ProviderStub>();
  for (const { name, whole } of upstreams) {
    const passing = first(whole, ({ expected }) => expected?.usage != null);
    stubs.set(name, stack.use(await startProviderStub(passing.answer)));
  }
  const folder = stack.use(await temporaryFolder());
  // To publish connectors costs more than the rest of a start, and no test asks a fleet for them here.
  const files = mode === "embedded" ? connectorFiles : [];
  await Promise.all(files.map((name) => symlink(join(repository, "catalog-data", name), join(folder.path, name))));
  const stripe = stack.use(new StripeStub());
  const fleet = stack.use(
    await Fleet.start({
      services: mode === "embedded" ? null : (services?.urls ?? null),
      ...(mode === "embedded" ? { inTest: true } : { gateways: 2 }),
      workers: 2,
      catalogDir: await writeStubs(folder.path, stubs),
      environment: {
        [stubKeyEnv]: "sk-of-the-stub",
        ...stripe.environment,
        FIRST_BYTE_TIMEOUT_MS: String(firstByteMs),
        // Nothing listens there.
        ADVISORIES_URL: "http://127.0.0.1:9",
        GITHUB_API_URL: stack.use(startGithub({ "Gemfile.lock": gemfileLock })).url,
      },
    }),
  );
  await fleet.runnable(upstreams.map(({ name }) => modelOf(name)));
  return {
    fleet,
    stripe,
    stub: (format) => present(stubs.get(format)),
    client: (apiKey, options) => new OpenAI({ apiKey, baseURL: `${fleet.url()}/gpt/v1`, maxRetries: 0, ...options }),
  };
}

/** Every model supports everything, so that each format itself refuses what it cannot carry. */
function writeStubs(folder: string, stubs: Map<string, ProviderStub>): Promise<string> {
  const supports = Object.keys(supportWords);
  // The registry's names are the catalog's names of formats.
  const format = (name: string) => name as "openai";
  return writeCatalog(folder, {
    providers: [...stubs].map(([name, { url }]) => stubProvider({ id: name, name, format: format(name), base_url: url })),
    models: Object.fromEntries(
      [...stubs.keys()].map((name) => [
        name,
        [stubModel({ id: modelOf(name), supports }), stubModel({ id: `${name}/later`, listed_as: "coming_soon" })],
      ]),
    ),
  });
}

function present(stub: ProviderStub | undefined): ProviderStub {
  if (stub === undefined) throw new Error("The format is unknown");
  return stub;
}
