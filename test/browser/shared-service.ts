/** The service of the browser's tests: the whole catalog, and a provider of the test that only workspaces have keys for. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CatalogCopy } from "../connectors/catalog/catalog-copy.ts";
import { atEnd } from "../support/processes/at-end.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import { stubModel, stubProvider } from "../support/providers/stub-catalog.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

export interface SharedService {
  fleet: Fleet;
  /** The provider `Stub` with one chat model. Tests share it, and restore what they make it answer. */
  stub: ProviderStub;
}

let started: Promise<SharedService> | null = null;

/** Started once for all files. Each test makes a workspace of its own. */
export function sharedService(): Promise<SharedService> {
  return (started ??= start());
}

async function start(): Promise<SharedService> {
  const stack = new AsyncDisposableStack();
  atEnd(() => stack.disposeAsync());
  const stub = stack.use(await startProviderStub());
  const { path } = stack.use(await temporaryFolder());
  const { folder } = await CatalogCopy.in(path);
  const file = join(folder, "providers.json");
  const provider = stubProvider({ base_url: stub.url, key_env: "NOBODY_HAS_THIS_KEY" });
  await writeFile(file, JSON.stringify([...JSON.parse(await readFile(file, "utf8")), provider]));
  await writeFile(join(folder, "models/stub.json"), JSON.stringify([stubModel()]));
  const fleet = stack.use(await Fleet.start({ services: null, catalogDir: folder }));
  return { fleet, stub };
}
