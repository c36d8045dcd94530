/** A service in one process whose one model, `stub/model`, is served by a provider stub. */
import { startProviderStub, type ProviderStub } from "../providers/provider-stub.ts";
import { stubKeyEnv, writeStubCatalog } from "../providers/stub-catalog.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { Fleet } from "./fleet.ts";

/** Resolves when the model can be called. @param stack ends what is started */
export async function startStubFleet(stack: AsyncDisposableStack): Promise<{ stub: ProviderStub; fleet: Fleet }> {
  const stub = stack.use(await startProviderStub());
  const { path } = stack.use(await temporaryFolder());
  const catalogDir = await writeStubCatalog(path, { url: stub.url });
  const fleet = stack.use(await Fleet.start({ services: null, catalogDir, environment: { [stubKeyEnv]: "sk-stub" } }));
  await fleet.runnable("stub/model");
  return { stub, fleet };
}
