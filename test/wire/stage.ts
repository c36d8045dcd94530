/**
 * The service in each of its two modes, with a provider stub behind every wire format: started once for all files of this
 * folder, when the first of them asks, and gone when the test process ends.
 */
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import OpenAI from "openai";
import { supportWords } from "../../src/gateway/api/request/supports.ts";
import { startGithub } from "../security/repositories/github-stub.ts";
import { atEnd } from "../support/at-end.ts";
import { Fleet } from "../support/fleet.ts";
import { repository } from "../support/process.ts";
import { startProviderStub, type ProviderStub } from "../support/provider-stub.ts";
import { testServices } from "../support/services.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../support/stub-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { first, upstreams } from "./upstreams.ts";

export const modes = ["embedded", "distributed"] as const;
export type Mode = (typeof modes)[number];

const services = await testServices();
/** Modes that this machine can run. */
export const playable = (mode: Mode): boolean => mode === "embedded" || services !== null;

/** How long a provider may be silent here before its call is upstream_timeout. */
export const firstByteMs = 2_000;

export interface Stage {
  fleet: Fleet;
  /** By the name of the format. */
  stub(format: string): ProviderStub;
  /** The official package, unchanged but for address and key. */
  client(apiKey: string, options?: ConstructorParameters<typeof OpenAI>[0]): OpenAI;
}

/** What makes the connector catalog, taken as it is. */
const connectorFiles = ["categories.json", "grant-notes.json", "oauth-apps.json", "connectors"];

/** Of the one repository that can be imported. */
export const gemfileLock = "GEM\n  remote: https://rubygems.org/\n  specs:\n    rack (3.0.8)\n\nDEPENDENCIES\n  rack\n";

const stages = new Map<Mode, Promise<Stage>>();

export function stage(mode: Mode): Promise<Stage> {
  const opened = stages.get(mode) ?? openStage(mode);
  stages.set(mode, opened);
  return opened;
}

/** The model that a format's stub serves. */
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
  await Promise.all(connectorFiles.map((name) => symlink(join(repository, "catalog-data", name), join(folder.path, name))));
  const fleet = stack.use(
    await Fleet.start({
      services: mode === "embedded" ? null : (services?.urls ?? null),
      gateways: mode === "embedded" ? 1 : 2,
      workers: 2,
      catalogDir: await writeStubs(folder.path, stubs),
      environment: {
        [stubKeyEnv]: "sk-of-the-stub",
        FIRST_BYTE_TIMEOUT_MS: String(firstByteMs),
        GITHUB_API_URL: stack.use(startGithub({ "Gemfile.lock": gemfileLock })).url,
      },
    }),
  );
  await Promise.all(upstreams.map(({ name }) => fleet.runnable(modelOf(name))));
  return {
    fleet,
    stub: (format) => present(stubs.get(format)),
    client: (apiKey, options) => new OpenAI({ apiKey, baseURL: `${fleet.url()}/gpt/v1`, maxRetries: 0, ...options }),
  };
}

/** Every format's model supports everything: what a format cannot carry is then refused by the format itself. */
function writeStubs(folder: string, stubs: Map<string, ProviderStub>): Promise<string> {
  const supports = Object.keys(supportWords);
  // The names of the registry are those that the catalog takes.
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
  if (stub === undefined) throw new Error("There is no such format");
  return stub;
}
